/**
 * Requests to the server: JSON in both directions, and the server's error messages.
 *
 * Each is sent when the server has proved its identity (`proof.ts`). The browser sends the
 * session's cookie by itself, so this module does not handle it.
 */

import { ApiError } from "./error";
import { noteFailure, verifyServer } from "./proof";
import type { ErrorAnswer } from "./types";

export { ApiError, errorMessage, MISDIRECTED } from "./error";

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

/** Like `putJson`, with a body that is made when the server has proved its identity, just before it is sent. */
export function putLatest<T>(path: string, makeBody: () => unknown): Promise<T> {
  return sendRequest<T>("PUT", path, makeBody);
}

/**
 * The body of a response, as bytes.
 *
 * @throws ApiError if the server rejects the request, or cannot be reached.
 */
export async function getBytes(path: string): Promise<ArrayBuffer> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const answer = await fetchVerified(path, () => ({ headers }));
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

/** Sends a request when the server has proved its identity. */
async function fetchVerified(path: string, makeRequest: () => RequestInit): Promise<Response> {
  await verifyServer();
  const request = makeRequest();
  try {
    return await fetch(path, { credentials: "same-origin", ...request });
  } catch {
    noteFailure();
    throw new ApiError("The server does not respond. Is `longfat studio` still running?", { status: 0 });
  }
}

async function sendRequest<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = workspace === null ? {} : { "X-Longfat-Workspace": workspace };
  const answer = await fetchVerified(path, () => {
    const request: RequestInit = { method, headers, ...(signal !== undefined && { signal }) };
    if (body === undefined) return request;
    headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(typeof body === "function" ? (body as () => unknown)() : body);
    // Small bodies are sent even if the page is unloaded meanwhile.
    request.keepalive = method === "PUT" && request.body.length < KEEPALIVE_BYTES;
    return request;
  });
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
    return new ApiError("This browser is not logged in any more: open your link again.", { status });
  }
  return new ApiError(`The server responded with status ${status}.`, { status });
}
