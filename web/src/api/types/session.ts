/** Live sessions: POST /api/sessions, /ws/sessions/ID. */

import type { SetupLine } from "./check";
import type { LiveCapture } from "./packets";

/** Time passes ("running"), nothing has anything to do ("idle"), or a person holds it ("held"). */
export type ClockState = "running" | "idle" | "held";

export type FlowState = "waiting" | "running" | "done" | "failed";

export interface LiveFlow {
  name: string;
  tool: string;
  source: string;
  target: string;
  state: FlowState;
  started_s: number | null;
  ended_s: number | null;
  /** The client's command line, and the tool's own words where it failed. */
  command: string;
  words: string;
  /** By name without the flow's, in base units, such as receiver_bps. */
  metrics: Record<string, number>;
  /** The same for people: what it is called, and its value with a unit. */
  results: { name: string; label: string; text: string }[];
  advice: Advice | null;
}

export interface Advice {
  /** In a line: what the flow got, of how much, and what limited it. */
  answer: string;
  /** One sentence: what limited the flow. */
  verdict: string;
  /** The evidence, and what follows. */
  notes: string[];
  /** Lines to type, by node, which would help. */
  lines: SetupLine[];
  /** Fields of the flow in the study and their values, which would help. */
  study: { field: string; value: string }[];
}

export interface TerminalInfo {
  id: number;
  node: string;
  /** Null while its shell runs. */
  status: number | null;
}

export interface SessionInfo {
  id: string;
  name: string;
  kernel: string;
  seed: number;
  case: string | null;
  nodes: { name: string; kind: "host" | "router" | "switch" | "root" }[];
}

/** Kinds of series; a key is `KIND:OF:QUANTITY`, such as `queue:s1-eth2:backlog_bytes`. */
export type SeriesKind = "queue" | "tcp" | "rate" | "ping";

export interface SeriesInfo {
  key: string;
  kind: SeriesKind;
  /** The interface, or the flow. */
  of: string;
  /** throughput_bps (over a round trip), throughput_raw_bps, rtt_s, cwnd_bytes, backlog_bytes, drops, tx_bps, ... */
  quantity: string;
  unit: "bit/s" | "s" | "bytes" | "packets" | "1";
  label: string;
  /** What a queue holds, or an interface sends at the most, where that is known. */
  limit: number | null;
}

/** Something that happened in a recording and was no traffic. */
export interface Mark {
  /** Of a link or a set-up line; at a terminal; of the study. */
  kind: "change" | "command" | "event";
  text: string;
  /** After the recording's start. */
  at_s: number;
}

/** A constant that a quantity is compared with, until the next one of that quantity. */
export interface Level {
  quantity: string;
  label: string;
  /** Null where there is none any more. */
  value: number | null;
  /** After the recording's start. */
  from_s: number;
}

/** One press on Run: what was measured from then on. */
export interface Recording {
  number: number;
  case: string | null;
  start_s: number;
  /** Null while its flows go on. */
  end_s: number | null;
  flows: LiveFlow[];
  series: SeriesInfo[];
  marks: Mark[];
  levels: Level[];
  /** Why its numbers may differ from those of the same case in Results. */
  differences: string[];
  /** The run directory that it has become, below the workspace; null before. */
  kept: string | null;
}

/** What the server says on /ws/sessions/ID, as JSON texts. The first is always `state`. */
export type SessionEvent =
  | {
      event: "state";
      session: SessionInfo;
      clock: Clock;
      recordings: Recording[];
      terminals: TerminalInfo[];
      captures: LiveCapture[];
      stale: string[];
    }
  | ({ event: "clock" } & Clock)
  | { event: "recording"; recording: Recording }
  | { event: "terminal"; terminal: TerminalInfo }
  /** A line that was typed at a terminal has ended, with its exit status. */
  | { event: "typed"; node: string; line: string; status: number }
  | { event: "captures"; captures: LiveCapture[] }
  /** What of the drawing a running network cannot take: it has to be started anew. */
  | { event: "stale"; reasons: string[] }
  /** Run was pressed, and what is drawn cannot run in this network. */
  | { event: "restart-needed"; reasons: string[] }
  /** An order failed, or something is to be known; `about` is the order, if it was one. */
  | { event: "message"; level: "error" | "warning" | "info"; text: string; about: string }
  | { event: "answer"; number: number; text: string }
  | { event: "ended"; words: string };

/**
 * Virtual seconds in a real one; "max" is as fast as it goes. Null is as fast as it goes but for
 * commands that go on until somebody ends them, which have real time.
 */
export type PaceChoice = number | "max" | null;

export interface Clock {
  now_s: number;
  state: ClockState;
  /** Virtual seconds in a second of wall time, lately. */
  speed: number;
  pace: PaceChoice;
}

/** What the page says there, as JSON texts. */
export type SessionOrder =
  /**
   * Start the flows of the case (or all, or those named), in a new recording: of the drawing in
   * `text`, as in `update`, and after the lines were run.
   */
  | { do: "run"; flows?: string[]; text?: string; case?: string | null; lines?: SetupLine[] }
  /** The drawing has changed. */
  | { do: "update"; text: string; case: string | null }
  | { do: "stop" }
  | { do: "hold" }
  | { do: "go" }
  | { do: "step"; by_s: number }
  | { do: "pace"; factor: PaceChoice }
  | { do: "open-terminal"; node: string; rows: number; columns: number }
  | { do: "close-terminal"; id: number }
  /** Capture packets at an interface; `filter` as pcap-filter(7) has it. */
  | { do: "capture"; interface: string; filter?: string }
  | { do: "end-capture"; id: number }
  /** Type lines at a node's terminal, or run them where it has none; a lab's step. */
  | { do: "type"; nodes: string[]; text: string }
  /** Run a line at a node, without letting time pass more than it needs; `answer` tells what it said. */
  | { do: "ask"; number: number; node: string; line: string };

/**
 * Series come on the same socket as binary messages: a 32-bit little-endian length, so many
 * bytes of JSON (SeriesHeader), padding to a multiple of 8, then for each entry its times and
 * its values as 64-bit little-endian floats. Times are seconds since the recording's start; a value
 * that is no number (NaN) breaks its line off.
 */
export interface SeriesHeader {
  recording: number;
  /** True where this replaces what came before (after a reconnection), else it is appended. */
  whole: boolean;
  entries: { key: string; count: number }[];
}

/**
 * /ws/sessions/ID/terminals/N: binary both ways, what the terminal shows and what is typed;
 * JSON texts from the page: {rows, columns}. What was shown before comes first.
 */
export interface TerminalSize {
  rows: number;
  columns: number;
}
