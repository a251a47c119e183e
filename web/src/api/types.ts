/**
 * What server and page say to each other. `longfat.studio` is the other side;
 * the names are the same on both.
 *
 * Times are seconds of virtual time since the machine's boot unless they say
 * otherwise; rates are bit/s, sizes bytes.
 */

// ------------------------------------------------------------ documents: POST /api/check

export interface Problem {
  message: string;
  /** Counted from 1; null where the problem has no place in the text. */
  line: number | null;
  column: number | null;
  /** Such as `network.links[2].delay`; empty where there is none. */
  field: string;
}

export interface Shape {
  rate_bps: number | null;
  delay_s: number | null;
  jitter_s: number | null;
  loss: number | null;
  duplicate: number | null;
  corrupt: number | null;
  reorder: number | null;
  queue_bytes: number | null;
  qdisc: string | null;
}

/** Two values: of the link's first end (or of the direction away from it), and of its second. */
export type Both<T> = [T, T];

export interface CheckedLink {
  a: string;
  b: string;
  interfaces: Both<string>;
  addresses: Both<string | null>;
  /** What happens to packets from a to b, and from b to a. */
  shapes: Both<Shape>;
  /** The lines of tc that this becomes, whole, at the end that sends. */
  tc: Both<string[]>;
  mtu_bytes: number | null;
}

export interface CheckedHost {
  name: string;
  address: string | null;
  forwards: boolean;
  routes: { to: string; via: string }[];
  interfaces: { name: string; address: string | null }[];
}

export interface CheckedSwitch {
  name: string;
  interfaces: string[];
}

export interface CheckedNetwork {
  hosts: CheckedHost[];
  switches: CheckedSwitch[];
  links: CheckedLink[];
}

export interface SetupLine {
  node: string;
  line: string;
}

export interface CheckedFlow {
  name: string;
  tool: string;
  source: string;
  target: string;
  start_s: number;
  after: string | null;
  /** For people, such as `10 s, 8 streams, bbr`. */
  summary: string;
  /** The client's command line. */
  command: string;
}

export interface CheckedCase {
  name: string;
  title: string;
  seeds: number;
  kernel: string;
  /** About how much virtual time one run takes. */
  expected_s: number;
  setup: SetupLine[];
  flows: CheckedFlow[];
  probes: { name: string; kind: string; of: string[] }[];
}

export interface CheckedStudy {
  title: string;
  kernel: string;
  seed: number;
  memory_bytes: number;
  /** That of all cases; null where each case has its own. */
  network: CheckedNetwork | null;
  cases: CheckedCase[];
  claims: { text: string; expression: string }[];
}

export interface CheckResult {
  problems: Problem[];
  /** Null where there are problems. */
  study: CheckedStudy | null;
}

// ------------------------------------------------------------ documents: files and labs

export interface FileEntry {
  /** Below the workspace, with slashes. */
  path: string;
  kind: "study" | "miniedit" | "mininet";
  size_bytes: number;
  /** Seconds since 1970. */
  modified_s: number;
}

/** GET /api/document?path=... or ?lab=... */
export interface OpenedDocument {
  /** What a tab is called. */
  name: string;
  /** Where it is saved; null for a lab and for what was converted from another format. */
  path: string | null;
  lab: string | null;
  text: string;
  /** What of a MiniEdit file or Mininet script could not be carried over. */
  warnings: string[];
}

/** A language that a lab's text is there in. */
export interface TextLanguage {
  /** Such as `ru`. */
  code: string;
  /** Its own name. */
  label: string;
}

/** GET /api/labs?languages=..., the preferred language first. */
export interface LabEntry {
  name: string;
  course: string;
  title: string;
  /** The code of the language that the title is in. */
  language: string;
  languages: TextLanguage[];
}

/** GET /api/labs/NAME?languages=... */
export interface LabText {
  name: string;
  title: string;
  /** The code of the language that it is in. */
  language: string;
  languages: TextLanguage[];
  /** Cleaned HTML; a code block that is a step is `<pre data-step="h1 h2">`, nodes by spaces. */
  html: string;
}

/** A field as the classes of the server declare it, for a form. */
export interface FieldInfo {
  /** What a study calls it. */
  key: string;
  label: string;
  /** What it means. */
  help: string;
  /** What holds without it, or an example. */
  placeholder: string;
  example: string;
  /** Such as `1 to 128`. */
  limits: string;
  form: "text" | "flag" | "list";
}

export interface Fields {
  /** Those of the network as a whole. */
  network: FieldInfo[];
  host: FieldInfo[];
  /** Those of each direction of a link. */
  direction: FieldInfo[];
  /** Those of a link as a whole. */
  link: FieldInfo[];
  /** Those of every flow. */
  flow: FieldInfo[];
  /** Those of each tool alone. */
  tools: Record<string, FieldInfo[]>;
}

/** GET /api/state */
export interface ServerState {
  fields: Fields;
  version: string;
  workspace: string;
  kernels: { series: string; release: string }[];
  labs: LabEntry[];
  sessions: SessionInfo[];
  jobs: JobInfo[];
}

// ------------------------------------------------------------ drafts: GET /api/drafts, PUT /api/drafts/ID

/** What was reported when a file of another format was opened. */
export interface ImportReport {
  source: string;
  /** Seconds since 1970. */
  at_s: number;
  messages: string[];
}

/** A network or study that is being drawn, as the server keeps it for all tabs. */
export interface Draft {
  id: string;
  name: string;
  text: string;
  path: string | null;
  lab: string | null;
  saved: string;
  chosen_case: string | null;
  session: string | null;
  shown_run: string | null;
  imported: ImportReport | null;
  /** The nearest last. */
  undo: string[];
  redo: string[];
  /** Counts its changes. */
  revision: number;
  opened_s: number;
  /** Null while it is open. */
  closed_s: number | null;
}

export interface Drafts {
  /** Of this run of the server: another one after each start. */
  instance: string;
  workspace: string;
  /** The workspace's folder. */
  path: string;
  drafts: Draft[];
}

/**
 * On /ws/drafts, as JSON texts: `hello` at first, then each draft that has changed or was removed,
 * and which page did it.
 */
export type DraftEvent = ({ event: "hello" } & Drafts) | { event: "draft"; page: string; draft: Draft } | { event: "forgotten"; page: string; id: string };

// ------------------------------------------------------------ live sessions: POST /api/sessions

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
  told: { name: string; label: string; text: string }[];
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
      stale: string[];
    }
  | ({ event: "clock" } & Clock)
  | { event: "recording"; recording: Recording }
  | { event: "terminal"; terminal: TerminalInfo }
  /** What of the drawing a running network cannot take: it has to be started anew. */
  | { event: "stale"; reasons: string[] }
  /** Run was pressed, and what is drawn cannot run in this network. */
  | { event: "restart-needed"; reasons: string[] }
  /** An order failed, or something is to be known; `about` is the order, if it was one. */
  | { event: "message"; level: "error" | "warning" | "info"; text: string; about: string }
  | { event: "answer"; number: number; text: string }
  | { event: "ended"; words: string };

export interface Clock {
  now_s: number;
  state: ClockState;
  /** Virtual seconds in a second of wall time, lately. */
  speed: number;
  /** What was asked for; null is as fast as it goes. */
  pace: number | null;
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
  | { do: "pace"; factor: number | null }
  | { do: "open-terminal"; node: string; rows: number; columns: number }
  | { do: "close-terminal"; id: number }
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

// ------------------------------------------------------------ jobs: POST /api/jobs

export interface JobRequest {
  /** The study's text and what to call it; its runs go to runs/NAME. */
  name: string;
  text: string;
  /** The study's file, beside which lie the files that it names; null where it has none. */
  path: string | null;
  lab: string | null;
  /** All, if empty. */
  cases: string[];
  seeds: number | null;
  /** For the lab's text in the report, the preferred first. */
  languages: string[];
}

export interface JobCase {
  name: string;
  title: string;
  state: "waiting" | "running" | "done" | "failed" | "known";
  virtual_s: number;
  expected_s: number;
  seeds: number;
  seeds_done: number;
  /** Below the workspace, one for each seed that is done. */
  runs: string[];
}

export interface Table {
  columns: string[];
  rows: { group: string; cells: string[] }[];
}

export interface ClaimRow {
  text: string;
  expression: string;
  holds: boolean | null;
  /** What its values were, for people; in how many seeds it held. */
  detail: string;
}

export interface JobInfo {
  id: string;
  name: string;
  lab: string | null;
  state: "running" | "done" | "failed" | "cancelled";
  cases: JobCase[];
  /** As far as they are known. */
  claims: ClaimRow[];
  published: Table | null;
  measured: Table | null;
  /** What went wrong, with its place in the text. */
  problem: Problem | null;
  /** The path of the report's page for GET, when it is there. */
  report: string | null;
  /** The folder of the runs, below the workspace. */
  folder: string;
}

/** On /ws/jobs, as JSON texts: every job at first, then each that has changed. */
export interface JobEvent {
  event: "job";
  job: JobInfo;
}

// ------------------------------------------------------------ runs: GET /api/runs

export interface RunEntry {
  /** The run directory below the workspace. */
  path: string;
  study: string;
  case: string;
  seed: number;
  kernel: string;
  digest: string;
  modified_s: number;
  /** The path for GET of the report that it stands in; null where none was written. */
  report: string | null;
  /** Some figures that tell runs apart, for people. */
  told: { name: string; text: string }[];
}

/** GET /api/diagnosis?run=PATH */
export interface RunDiagnosis {
  flow: string;
  advice: Advice;
}

/** Every error answer of the server, with a status of 4xx or 5xx. */
export interface ErrorAnswer {
  error: string;
  problem: Problem | null;
}
