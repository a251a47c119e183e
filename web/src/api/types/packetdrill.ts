/** packetdrill scripts. */

import type { Problem } from "./check";
import type { FileEntry } from "./documents";

/** GET /api/packetdrill */
export interface PacketdrillOverview {
  scripts: FileEntry[];
  /** The script that is opened first. */
  examples: { name: string; text: string }[];
  ip_versions: string[];
}

/** GET /api/packetdrill/script?path=... */
export interface PacketdrillScript {
  path: string;
  text: string;
  /** To be sent with what is saved. */
  version: string;
}

/** POST /api/packetdrill/run; its answer is a PacketdrillReport. */
export interface PacketdrillRequest {
  path: string;
  text: string;
  /** The folder that the script sees: that of the file if null, or one above it. */
  root: string | null;
  /** A series; null for the newest that is built. */
  kernel: string | null;
  /** Null for the version that the script names, or IPv4. */
  ip_version: string | null;
  seed: number;
}

export interface PacketdrillFailure {
  line: number;
  column: number | null;
  message: string;
  /** The event of the script that it is about. */
  event: string | null;
  expected: string | null;
  actual: string | null;
  /** In nanoseconds since the script's start. */
  expected_ns: number | null;
  actual_ns: number | null;
  differences: { field: string; expected: string; actual: string }[];
  /** The packet that the kernel actually sent. */
  sent: string | null;
}

export interface PacketdrillReport {
  script: string;
  ip_version: string;
  status: "passed" | "failed" | "invalid" | "broken";
  /** Why there is no result. */
  error: Problem | null;
  failure: PacketdrillFailure | null;
  warnings: PacketdrillFailure[];
  /** What the script's commands printed. */
  output: string;
  /** The kernel's release. */
  kernel: string;
  /** Identifies its packets: /api/packets?script=...; null if there are none. */
  capture: string | null;
  /** The following are set if it ran. */
  events?: number;
  packets?: number;
  virtual_s?: number;
  wall_s?: number;
  /** The largest deviation of a packet from its expected time. */
  deviation_s?: number | null;
  deviation_line?: number | null;
}
