/**
 * Proof of the server's identity: nothing of this page is sent before it.
 *
 * While the server is down, another program may take its port. So the page has a key, which came
 * with it, and before a request it sends a random number without its cookie: only the server
 * that gave the page can answer with the number's HMAC (`server_proof.py`).
 */

import { ApiError, MISDIRECTED } from "./error";

const CONTEXT = "longfat studio: proof of the server";
const NONCE_BYTES = 32;
const WITHIN_MS = 10_000;

let key: Promise<CryptoKey> | null = null;
let proving: Promise<void> | null = null;
let isProven = false;

/**
 * Verifies the server. Calls at the same time share a check.
 *
 * @throws ApiError if it does not respond (status 0), or is another one (status 421).
 */
export function verifyServer(): Promise<void> {
  // Over TLS the certificate proves the server to each connection, and a check takes a round trip of the network.
  if (isProven && window.location.protocol === "https:") return Promise.resolve();
  proving ??= check().finally(() => {
    proving = null;
  });
  return proving;
}

/** A request failed, or a WebSocket was lost: also over TLS the server is verified again. */
export function noteFailure(): void {
  isProven = false;
}

async function check(): Promise<void> {
  isProven = false;
  const [session = "", secret = ""] = (document.querySelector<HTMLMetaElement>('meta[name="longfat-session"]')?.content ?? "").split(" ");
  if (secret === "") throw new ApiError("This page was not loaded by a link of the studio: open yours, and close this page.", { status: MISDIRECTED });
  key ??= crypto.subtle.importKey("raw", fromHex(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
  const nonce = toHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
  const proof = await request(`/api/proof?session=${session}&nonce=${nonce}`);
  const message = new TextEncoder().encode([CONTEXT, window.location.origin, session, nonce].join("\n"));
  if (!(await crypto.subtle.verify("HMAC", await key, fromHex(proof), message))) {
    throw new ApiError("Another program has this address now. Nothing was sent to it.", { status: MISDIRECTED });
  }
  isProven = true;
}

/** The proof that whoever has the port responds with, in hexadecimal; empty if it is none. */
async function request(path: string): Promise<string> {
  let text: string;
  try {
    const options: RequestInit = { credentials: "omit", cache: "no-store", redirect: "error", signal: AbortSignal.timeout(WITHIN_MS) };
    text = await (await fetch(path, options)).text();
  } catch {
    throw new ApiError("The server does not respond. Is `longfat studio` still running?", { status: 0 });
  }
  try {
    const { proof } = JSON.parse(text) as { proof?: unknown };
    return typeof proof === "string" ? proof : "";
  } catch {
    return "";
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fromHex(text: string): Uint8Array<ArrayBuffer> {
  const pairs = text.match(/[0-9a-f]{2}/g) ?? [];
  return Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
}
