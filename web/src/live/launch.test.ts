// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { stubServer } from "../api/testServer";
import type { CheckResult, CheckedCase } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { caseOf, chooseCase, ENDED_HERE, endSession, ensureSession, restartSession, startRun, sendText, useLaunch } from "./launch";
import { useLive } from "./store";

let requests: { method: string; path: string; body: unknown }[] = [];
let sent: string[] = [];
let answer: (path: string) => Response;

class Socket {
  static readonly OPEN = 1;
  static opened = 0;
  readyState = 1;
  onopen: (() => void) | null = null;
  constructor() {
    queueMicrotask(() => {
      this.onopen?.();
      Socket.opened += 1;
    });
  }
  send(text: string): void {
    sent.push(text);
  }
  close(): void {
    this.readyState = 3;
  }
}

/** Waits for the session's socket, which is opened when the server has proved its identity. */
async function socketOpened(): Promise<void> {
  await vi.waitFor(() => expect(Socket.opened).toBe(1));
}

function checkOf(names: string[], problems: CheckResult["problems"] = []): CheckResult {
  const one = { title: "", seeds: 1, kernel: "6.1", expected_s: 1, setup: [], flows: [], probes: [] };
  const cases: CheckedCase[] = names.map((name) => ({ ...one, name }));
  return { problems, warnings: [], repair: [], study: { title: "", kernel: "6.1", seed: 1, memory_bytes: 0, network: null, cases, claims: [] } };
}

function open(change: Partial<StudyDocument> = {}): StudyDocument {
  const document: StudyDocument = {
    id: "d",
    name: "net.yaml",
    path: null,
    lab: null,
    text: "a",
    savedText: "a",
    version: null,
    imported: null,
    shownRun: null,
    check: checkOf(["one", "two"]),
    lastGood: null,
    chosenCase: null,
    sessionId: null,
    ...change,
  };
  useDocuments.setState({ documents: [document] });
  return document;
}

const current = () => {
  const [document] = useDocuments.getState().documents;
  if (document === undefined) throw new Error("no document");
  return document;
};

beforeEach(() => {
  requests = [];
  sent = [];
  Socket.opened = 0;
  let count = 0;
  answer = () => {
    count += 1;
    const last = requests[requests.length - 1]?.body as { case: string | null };
    return new Response(JSON.stringify({ id: `s${count}`, name: "net", kernel: "6.1", seed: 1, case: last.case, nodes: [] }));
  };
  vi.stubGlobal("WebSocket", Socket);
  stubServer((path, { method = "GET", body }) => {
    requests.push({ method, path, body: typeof body === "string" ? JSON.parse(body) : null });
    return Promise.resolve(method === "DELETE" ? new Response("{}") : answer(path));
  });
});

afterEach(() => {
  for (const id of Object.keys(useLive.getState().sessions)) useLive.getState().disconnect(id);
  vi.unstubAllGlobals();
});

describe("ensureSession", () => {
  it("starts one session, however often it is requested meanwhile", async () => {
    open({ chosenCase: "two" });
    const [one, other] = await Promise.all([ensureSession("d"), ensureSession("d")]);
    expect(one).toBe("s1");
    expect(other).toBe("s1");
    expect(requests).toEqual([
      { method: "POST", path: "/api/sessions", body: { name: "net.yaml", path: null, lab: null, text: "a", case: "two" } },
    ]);
    expect(current().sessionId).toBe("s1");
    expect(await ensureSession("d")).toBe("s1");
  });

  it("reports why it failed, and clears that with the next attempt", async () => {
    open();
    const problem = { message: "no", line: 3, column: 1, field: "network" };
    const good = answer;
    answer = () => new Response(JSON.stringify({ error: "no such host", problem }), { status: 400 });
    await expect(ensureSession("d")).rejects.toThrow("no such host");
    expect(useLaunch.getState().failures["d"]).toEqual({ words: "no such host", problem });
    expect(useLaunch.getState().starting["d"]).toBe(false);
    answer = good;
    await ensureSession("d");
    expect(useLaunch.getState().failures["d"]).toBeUndefined();
  });
});

describe("startRun", () => {
  it("sends a changed drawing before it runs, and an unchanged one only once", async () => {
    open();
    await startRun("d");
    await socketOpened();
    expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([{ do: "run" }]);
    useDocuments.setState({ documents: [{ ...current(), text: "b" }] });
    await startRun("d");
    await startRun("d");
    const runs = sent.slice(1).map((text) => JSON.parse(text) as unknown);
    expect(runs).toEqual([{ do: "run", text: expect.any(String) as string, case: expect.anything() as unknown }, { do: "run" }]);
  });
});

describe("sendText", () => {
  it("does not send a text with problems", async () => {
    open();
    await ensureSession("d");
    await socketOpened();
    const problem = { message: "no", line: 1, column: 1, field: "" };
    useDocuments.setState({ documents: [{ ...current(), text: "b", check: checkOf(["one"], [problem]) }] });
    sendText("d");
    await Promise.resolve();
    expect(sent).toEqual([]);
  });
});

describe("a network that is set up by hand", () => {
  it("stays without a case, until the user chooses one", async () => {
    open({ chosenCase: "one" });
    await ensureSession("d", null);
    await socketOpened();
    expect(caseOf(current())).toBeNull();
    sendText("d");
    expect(sent).toEqual([]);
    chooseCase("d", "two");
    await Promise.resolve();
    expect(caseOf(current())).toBe("two");
    expect(sent.map((text) => JSON.parse(text) as unknown)).toEqual([{ do: "update", text: "a", case: "two" }]);
  });
});

describe("ending", () => {
  it("ends the session on the server, and keeps its measurements visible", async () => {
    open();
    await ensureSession("d");
    await endSession("d");
    expect(requests[1]).toMatchObject({ method: "DELETE", path: "/api/sessions/s1" });
    expect(current().sessionId).toBe("s1");
    expect(useLive.getState().sessions).toMatchObject({ s1: { link: "ended", ended: ENDED_HERE } });
    await endSession("d");
    expect(requests).toHaveLength(2);
  });

  it("comes before the start of a new one", async () => {
    open({ chosenCase: "two" });
    await ensureSession("d");
    await restartSession("d");
    expect(requests.map(({ method }) => method)).toEqual(["POST", "DELETE", "POST"]);
    expect(current().sessionId).toBe("s2");
  });
});

it("runs the chosen case, else the first", () => {
  expect(caseOf(open({ chosenCase: "two" }))).toBe("two");
  expect(caseOf(open({ chosenCase: "gone" }))).toBe("one");
  expect(caseOf(open({ check: null }))).toBeNull();
});
