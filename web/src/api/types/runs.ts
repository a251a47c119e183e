/** Saved runs: GET /api/runs. */

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
  /** The path for GET of the report that contains it; null if none was written. */
  report: string | null;
  /** Some metrics that distinguish runs, human-readable. */
  results: { name: string; text: string }[];
}

/** GET /api/diagnosis?run=PATH */
export interface RunDiagnosis {
  flow: string;
  advice: Advice;
}
