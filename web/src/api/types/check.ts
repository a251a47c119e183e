/** The result of checking a document's text (POST /api/check), and its error answers. */

export interface Problem {
  message: string;
  /** Counted from 1; null where the problem has no position in the text. */
  line: number | null;
  column: number | null;
  /** Such as `network.links[2].delay`; empty where there is none. */
  field: string;
  /** Whether the check's `repair` fixes it. */
  has_repair?: boolean;
}

/** A value to set at a path below `network`. */
export interface RepairEdit {
  path: (string | number)[];
  /** Null removes the entry. */
  value: string | null;
  /** What it does. */
  words: string;
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
  /** The complete tc commands for this, at the sending end. */
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
  /** Human-readable, such as `10 s, 8 streams, bbr`. */
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
  /** Shared by all cases; null where each case has its own. */
  network: CheckedNetwork | null;
  cases: CheckedCase[];
  claims: { text: string; expression: string }[];
}

export interface CheckResult {
  problems: Problem[];
  /** Warnings do not prevent a run. */
  warnings?: Problem[];
  /** Edits after which all hosts reach each other; empty where they already do, or no edit helps. */
  repair?: RepairEdit[];
  /** Null where there are problems. */
  study: CheckedStudy | null;
}

/** Every error answer of the server, with a status of 4xx or 5xx. */
export interface ErrorAnswer {
  error: string;
  problem: Problem | null;
  /** Present if the request is queued and is to be repeated. */
  queued?: boolean;
}
