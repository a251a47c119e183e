/**
 * Asking the server: JSON there and back, and errors in the server's words.
 *
 * The token is in a cookie that the browser sends by itself, so nothing here
 * knows of it.
 */

import type { ErrorAnswer, Problem } from "./types";

/** The server refused, or could not be reached (then the status is 0). */
export class ApiError extends Error {
  readonly problem: Problem | null;
  readonly status: number;
  /** What was asked for has a place in a queue, and is to be asked for again in a moment. */
  readonly queued: boolean;

  constructor(message: string, options: { problem?: Problem | null; status: number; queued?: boolean }) {
    super(message);
    this.name = "ApiError";
    this.problem = options.problem ?? null;
    this.status = options.status;
    this.queued = options.queued ?? false;
  }
}

/** Browsers let go of more than 64 KiB when a page goes. */
const KEEPALIVE_BYTES = 30_000;

export function getJson<T>(path: string): Promise<T> {
  return ask<T>("GET", path);
}

export function postJson<T>(path: string, body: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
  return ask<T>("POST", path, body, signal);
}

export function putJson<T>(path: string, body: unknown): Promise<T> {
  return ask<T>("PUT", path, body);
}

/**
 * The bytes of an answer.
 *
 * @throws ApiError where the server refuses, or cannot be reached.
 */
export async function getBytes(path: string): Promise<ArrayBuffer> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const answer = await fetch(path, { credentials: "same-origin", headers }).catch(() => {
    throw new ApiError("The server does not answer. Is `longfat studio` still running?", { status: 0 });
  });
  if (!answer.ok) throw refusal(answer.status, await answer.text());
  return answer.arrayBuffer();
}

export function deleteJson<T = null>(path: string): Promise<T> {
  return ask<T>("DELETE", path);
}

let workspace: string | null = null;

/** Says with each request from now on which workspace this page is of: another one's studio may have come to answer. */
export function setWorkspace(id: string): void {
  workspace = id;
}

/** The address of a WebSocket on the server that gave this page. */
export function socketUrl(path: string): string {
  const { protocol, host } = window.location;
  const of = workspace === null ? "" : `?workspace=${workspace}`;
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${path}${of}`;
}

/** What to tell a person of an error, whatever it is. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const request: RequestInit = { method, credentials: "same-origin", headers, ...(signal !== undefined && { signal }) };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
    // What is small is sent even where the page goes meanwhile.
    request.keepalive = method === "PUT" && request.body.length < KEEPALIVE_BYTES;
  }
  let answer: Response;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new ApiError("The server does not answer. Is `longfat studio` still running?", { status: 0 });
  }
  const text = await answer.text();
  if (!answer.ok) throw refusal(answer.status, text);
  if (text === "") return null as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(`The server's answer to ${method} ${path} is not JSON.`, { status: answer.status });
  }
}

function refusal(status: number, text: string): ApiError {
  try {
    const { error, problem, queued } = JSON.parse(text) as Partial<ErrorAnswer>;
    if (typeof error === "string") return new ApiError(error, { problem: problem ?? null, status, queued: queued === true });
  } catch {
    // Not from our server's own hand, such as a proxy's page: the status has to do.
  }
  if (status === 403) {
    return new ApiError("The server wants the token: open the address that `longfat studio` printed.", { status });
  }
  return new ApiError(`The server answered with status ${status}.`, { status });
}
