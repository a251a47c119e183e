/** Studies that are run as a whole: POST /api/jobs, /ws/jobs. */

import type { Problem } from "./check";

export interface JobRequest {
  /** The study's text and its name; its runs go to runs/NAME. */
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
  /** Its values, human-readable; in how many seeds it held. */
  detail: string;
}

export interface JobInfo {
  id: string;
  name: string;
  lab: string | null;
  state: "running" | "done" | "failed" | "cancelled";
  /** What it is waiting for before it can begin; null if it is not queued. */
  waits: string | null;
  cases: JobCase[];
  /** As far as they are known. */
  claims: ClaimRow[];
  published: Table | null;
  measured: Table | null;
  /** The error, with its position in the text. */
  problem: Problem | null;
  /** The path of the report's page for GET, once it exists. */
  report: string | null;
  /** The folder of the runs, below the workspace. */
  folder: string;
}

/** On /ws/jobs, as JSON texts: every job at first, then each that has changed. */
export interface JobEvent {
  event: "job";
  job: JobInfo;
}
