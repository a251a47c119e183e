/** Live sessions: POST /api/sessions, /ws/sessions/ID. */

import type { SetupLine } from "./check";
import type { LiveCapture } from "./packets";

/** Time passes ("running"), no process has anything to do ("idle"), or the user holds the clock ("held"). */
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
  /** The client's command line, and the tool's error message if it failed. */
  command: string;
  words: string;
  /** By name without the flow's, in base units, such as receiver_bps. */
  metrics: Record<string, number>;
  /** The same, human-readable: the label, and the value with its unit. */
  results: { name: string; label: string; text: string }[];
  advice: Advice | null;
}

export interface Advice {
  /** One line: the flow's throughput, the available rate, and what limited it. */
  answer: string;
  /** One sentence: what limited the flow. */
  verdict: string;
  /** The evidence, and the recommendation. */
  notes: string[];
  /** Recommended commands, by node. */
  lines: SetupLine[];
  /** Recommended values for fields of the flow in the study. */
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
  /** The name of the interface or the flow. */
  of: string;
  /** throughput_bps (over a round trip), throughput_raw_bps, rtt_s, cwnd_bytes, backlog_bytes, drops, tx_bps, ... */
  quantity: string;
  unit: "bit/s" | "s" | "bytes" | "packets" | "1";
  label: string;
  /** A queue's capacity, or an interface's rate, if known. */
  limit: number | null;
}

/** An event in a recording other than traffic. */
export interface Mark {
  /** A change of a link or set-up command; a command at a terminal; an event of the study. */
  kind: "change" | "command" | "event";
  text: string;
  /** After the recording's start. */
  at_s: number;
}

/** A reference value of a quantity, valid until the next one for that quantity. */
export interface Level {
  quantity: string;
  label: string;
  /** Null if there is none from then on. */
  value: number | null;
  /** After the recording's start. */
  from_s: number;
}

/** The measurements that start with one press of Run. */
export interface Recording {
  number: number;
  case: string | null;
  start_s: number;
  /** Null while its flows are running. */
  end_s: number | null;
  flows: LiveFlow[];
  series: SeriesInfo[];
  marks: Mark[];
  levels: Level[];
  /** Why its numbers may differ from those of the same case in Results. */
  differences: string[];
  /** The run directory that it was saved as, below the workspace; null before. */
  kept: string | null;
}

/** Events from the server on /ws/sessions/ID, as JSON texts. The first is always `state`. */
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
  /** A command at a terminal has ended, with its exit status. */
  | { event: "typed"; node: string; line: string; status: number }
  | { event: "captures"; captures: LiveCapture[] }
  /** The changes that a running network cannot apply: it has to be restarted. */
  | { event: "stale"; reasons: string[] }
  /** Run was pressed, and the drawn network differs from the running one in ways that need a restart. */
  | { event: "restart-needed"; reasons: string[] }
  /** A command failed, or there is a notice; `about` is the command, if it was one. */
  | { event: "message"; level: "error" | "warning" | "info"; text: string; about: string }
  | { event: "answer"; number: number; text: string }
  | { event: "ended"; words: string };

/**
 * Virtual seconds per real second; "max" is as fast as possible. Null is real time while a command
 * typed at a terminal runs, else as fast as possible.
 */
export type PaceChoice = number | "max" | null;

export interface Clock {
  now_s: number;
  state: ClockState;
  /** Virtual seconds in a second of wall time, recently. */
  speed: number;
  pace: PaceChoice;
  /** The number of terminals with a command in the foreground. */
  commands: number;
  /** Time passes as fast as possible until one of these ends. */
  skipping: boolean;
}

/** Commands from the page, as JSON texts. */
export type SessionOrder =
  /**
   * Start the flows of the case (or all, or those named) in a new recording. `text` is the
   * drawing, as in `update`; the flows start after the set-up lines have run.
   */
  | { do: "run"; flows?: string[]; text?: string; case?: string | null; lines?: SetupLine[] }
  /** The drawing was changed. */
  | { do: "update"; text: string; case: string | null }
  | { do: "stop" }
  | { do: "hold" }
  | { do: "go" }
  | { do: "step"; by_s: number }
  | { do: "pace"; factor: PaceChoice }
  /** Pass time as fast as possible until a command typed at a terminal ends; again: stop that. */
  | { do: "skip" }
  | { do: "open-terminal"; node: string; rows: number; columns: number }
  | { do: "close-terminal"; id: number }
  /** Capture packets at an interface; `filter` as pcap-filter(7) has it. */
  | { do: "capture"; interface: string; filter?: string }
  | { do: "end-capture"; id: number }
  /** Type commands at a node's terminal, or run them if it has none; used for a lab's steps. */
  | { do: "type"; nodes: string[]; text: string }
  /** Run a command at a node, advancing virtual time only as far as it needs; `answer` returns its output. */
  | { do: "ask"; number: number; node: string; line: string };

/**
 * Series come on the same socket as binary messages: a 32-bit little-endian length, then that many
 * bytes of JSON (SeriesHeader), padding to a multiple of 8, then for each entry its times and
 * its values as 64-bit little-endian floats. Times are seconds since the recording's start; a value
 * of NaN is a gap in the line.
 */
export interface SeriesHeader {
  recording: number;
  /** True if this replaces the earlier samples (after a reconnection), else it is appended. */
  whole: boolean;
  entries: { key: string; count: number }[];
}

/**
 * /ws/sessions/ID/terminals/N: binary both ways, output and input;
 * JSON texts from the page: {rows, columns}. Earlier output comes first.
 */
export interface TerminalSize {
  rows: number;
  columns: number;
}
