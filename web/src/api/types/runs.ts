/** Runs that are kept: GET /api/runs. */

import type { Advice } from "./session";

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
  results: { name: string; text: string }[];
}

/** GET /api/diagnosis?run=PATH */
export interface RunDiagnosis {
  flow: string;
  advice: Advice;
}
