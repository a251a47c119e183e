/** Errors of requests. */

import type { Problem } from "./types";

/** The status if this address serves something else: another workspace, or another program. */
export const MISDIRECTED = 421;

/** The server rejected the request, or could not be reached (then the status is 0). */
export class ApiError extends Error {
  readonly problem: Problem | null;
  readonly status: number;
  /** The request is queued, and is to be repeated in a moment. */
  readonly queued: boolean;

  constructor(message: string, options: { problem?: Problem | null; status: number; queued?: boolean }) {
    super(message);
    this.name = "ApiError";
    this.problem = options.problem ?? null;
    this.status = options.status;
    this.queued = options.queued ?? false;
  }
}

/** The message of any error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
