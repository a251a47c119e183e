// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { getBytes, getJson, postJson, putLatest } from "./client";
import { giveKey, proofOf, SESSION, stubServer, type Respond } from "./testServer";

let requests: { path: string; request: RequestInit }[] = [];

/** Replaces `fetch` by another program, which responds so to a request for its proof. */
function stubThief(respond: Respond): void {
  vi.stubGlobal("fetch", (path: string, request: RequestInit = {}) => {
    requests.push({ path, request });
    return path.startsWith("/api/proof?") ? respond(path, request) : Promise.resolve(Response.json({}));
  });
}

beforeEach(() => {
  requests = [];
  giveKey();
});

afterEach(() => vi.unstubAllGlobals());

describe("a request", () => {
  it("is sent when the server has proved its identity, and each time anew", async () => {
    const paths: string[] = [];
    stubServer((path) => {
      paths.push(path);
      return Promise.resolve(Response.json({ good: true }));
    });
    expect(await getJson("/api/state")).toEqual({ good: true });
    stubThief(() => Promise.resolve(Response.json({ proof: "00" })));
    await expect(postJson("/api/drafts", { text: "mine" })).rejects.toMatchObject({ status: 421 });
    expect(paths).toEqual(["/api/state"]);
    expect(requests.map(({ path }) => path.split("?")[0])).toEqual(["/api/proof"]);
  });

  it("asks for the proof without credentials, with another number each time", async () => {
    stubThief(() => Promise.resolve(new Response("")));
    for (let count = 0; count < 3; count += 1) await expect(getJson("/api/state")).rejects.toThrow("Another program");
    for (const { path, request } of requests) {
      expect(path).toMatch(new RegExp(`^/api/proof\\?session=${SESSION}&nonce=[0-9a-f]{64}$`));
      expect(request).toMatchObject({ credentials: "omit", redirect: "error", cache: "no-store" });
      expect(request.headers).toBeUndefined();
      expect(request.body).toBeUndefined();
    }
    expect(new Set(requests.map(({ path }) => path)).size).toBe(3);
  });

  it("shares a check with others that wait for one", async () => {
    let checks = 0;
    stubThief(async (path) => {
      checks += 1;
      return Response.json({ proof: await proofOf(path) });
    });
    await Promise.all([getJson("/api/a"), getJson("/api/b"), getBytes("/api/c")]);
    expect(checks).toBe(1);
  });

  const otherNumber = (path: string) => proofOf(path.replace(/nonce=./, "nonce=x"));
  it.each<[string, Respond]>([
    ["nothing", () => Promise.resolve(new Response(""))],
    ["no JSON", () => Promise.resolve(new Response("<!doctype html>"))],
    ["null", () => Promise.resolve(Response.json(null))],
    ["another type", () => Promise.resolve(Response.json({ proof: [1] }))],
    ["an empty proof", () => Promise.resolve(Response.json({ proof: "" }))],
    ["a proof by another key", async (path) => Response.json({ proof: await proofOf(path, { secret: "cd".repeat(32) }) })],
    ["the proof of a studio at another port", async (path) => Response.json({ proof: await proofOf(path, { origin: "http://127.0.0.1:8766" }) })],
    ["the proof of another number", async (path) => Response.json({ proof: await otherNumber(path) })],
    ["half a proof", async (path) => Response.json({ proof: (await proofOf(path)).slice(0, 32) })],
    ["a long proof", async (path) => Response.json({ proof: `${await proofOf(path)}00` })],
  ])("is not sent to who responds with %s", async (_, respond) => {
    stubThief(respond);
    const body = vi.fn(() => "mine");
    await expect(putLatest("/api/drafts/1", body)).rejects.toMatchObject({ status: 421 });
    await expect(getBytes("/api/share")).rejects.toMatchObject({ status: 421 });
    expect(body).not.toHaveBeenCalled();
    expect(requests.every(({ path }) => path.startsWith("/api/proof?"))).toBe(true);
  });

  it("is not sent where nobody responds", async () => {
    stubThief(() => Promise.reject(new TypeError("refused")));
    await expect(getJson("/api/state")).rejects.toMatchObject({ status: 0 });
    expect(requests).toHaveLength(1);
  });

  it("is not sent by a page without a key", async () => {
    window.document.head.innerHTML = "";
    stubThief(() => Promise.resolve(new Response("")));
    await expect(getJson("/api/state")).rejects.toMatchObject({ status: 421 });
    expect(requests).toHaveLength(0);
  });
});
