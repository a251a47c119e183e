/** A server for tests of the page, which proves its identity as the studio does. They need a document. */

import { webcrypto } from "node:crypto";
import { vi } from "vitest";

export const SESSION = "0123456789abcdef".repeat(2);
const SECRET = "ab".repeat(32);

export type Respond = (path: string, request: RequestInit) => Promise<Response>;

/** Gives the page a session's key, as the server does, and WebCrypto, which jsdom does not have. */
export function giveKey(): void {
  vi.stubGlobal("crypto", webcrypto);
  window.document.head.innerHTML = `<meta name="longfat-session" content="${SESSION} ${SECRET}">`;
}

/** The proof for a request of it, by the studio's key or another one. */
export async function proofOf(path: string, { secret = SECRET, origin = window.location.origin } = {}): Promise<string> {
  const query = new URL(path, window.location.origin).searchParams;
  const raw = Uint8Array.from(secret.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const message = ["longfat studio: proof of the server", origin, query.get("session"), query.get("nonce")].join("\n");
  const proof = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(message));
  return Array.from(new Uint8Array(proof), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Replaces `fetch` by a server that proves its identity, and responds so to everything else. */
export function stubServer(respond: Respond): void {
  giveKey();
  vi.stubGlobal("fetch", async (path: string, request: RequestInit = {}) =>
    path.startsWith("/api/proof?") ? Response.json({ proof: await proofOf(path) }) : respond(path, request),
  );
}
