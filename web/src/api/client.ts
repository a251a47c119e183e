/**
 * Requests to the server: JSON in both directions, and the server's error messages.
 *
 * The browser sends the token in a cookie by itself, so this module does not handle it.
 */

import type { ErrorAnswer, Problem } from "./types";

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

/** Browsers drop `keepalive` requests of more than 64 KiB when a page is unloaded. */
const KEEPALIVE_BYTES = 30_000;

export function getJson<T>(path: string): Promise<T> {
  return sendRequest<T>("GET", path);
}

export function postJson<T>(path: string, body: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<T> {
  return sendRequest<T>("POST", path, body, signal);
}

export function putJson<T>(path: string, body: unknown): Promise<T> {
  return sendRequest<T>("PUT", path, body);
}

/**
 * The body of a response, as bytes.
 *
 * @throws ApiError if the server rejects the request, or cannot be reached.
 */
export async function getBytes(path: string): Promise<ArrayBuffer> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const answer = await fetch(path, { credentials: "same-origin", headers }).catch(() => {
    throw new ApiError("The server does not respond. Is `longfat studio` still running?", { status: 0 });
  });
  if (!answer.ok) throw apiError(answer.status, await answer.text());
  return answer.arrayBuffer();
}

export function deleteJson<T = null>(path: string): Promise<T> {
  return sendRequest<T>("DELETE", path);
}

let workspace: string | null = null;

/** Sends the workspace of this page with each request from now on: the studio of another one may have taken the port. */
export function setWorkspace(id: string): void {
  workspace = id;
}

/** The address of a WebSocket on the server that gave this page. */
export function socketUrl(path: string): string {
  const { protocol, host } = window.location;
  const of = workspace === null ? "" : `?workspace=${workspace}`;
  return `${protocol === "https:" ? "wss:" : "ws:"}//${host}${path}${of}`;
}

/** The message of any error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function sendRequest<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const request: RequestInit = { method, credentials: "same-origin", headers, ...(signal !== undefined && { signal }) };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
    // Small bodies are sent even if the page is unloaded meanwhile.
    request.keepalive = method === "PUT" && request.body.length < KEEPALIVE_BYTES;
  }
  let answer: Response;
  try {
    answer = await fetch(path, request);
  } catch {
    throw new ApiError("The server does not respond. Is `longfat studio` still running?", { status: 0 });
  }
  const text = await answer.text();
  if (!answer.ok) throw apiError(answer.status, text);
  if (text === "") return null as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(`The server's response to ${method} ${path} is not JSON.`, { status: answer.status });
  }
}

function apiError(status: number, text: string): ApiError {
  try {
    const { error, problem, queued } = JSON.parse(text) as Partial<ErrorAnswer>;
    if (typeof error === "string") return new ApiError(error, { problem: problem ?? null, status, queued: queued === true });
  } catch {
    // Not a response of our server, such as a proxy's page: only the status is known.
  }
  if (status === 403) {
    return new ApiError("The token is missing or invalid: open the URL that `longfat studio` printed.", { status });
  }
  return new ApiError(`The server responded with status ${status}.`, { status });
}
