/** Studies that are run as a whole: POST /api/jobs, /ws/jobs. */

import type { Problem } from "./check";

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
  /** What it waits for before it can begin; null where it waits for nothing. */
  waits: string | null;
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
