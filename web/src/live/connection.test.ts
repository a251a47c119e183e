import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Connection, GONE, waitBefore } from "./connection";

/** A socket controlled by the test. */
class Socket {
  static readonly OPEN = 1;
  static all: Socket[] = [];
  readyState = 0;
  sent: unknown[] = [];
  binaryType = "blob";
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string | ArrayBuffer }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {
    Socket.all.push(this);
  }

  send(data: unknown): void {
    this.sent.push(data);
  }

  open(): void {
    this.readyState = Socket.OPEN;
    this.onopen?.();
  }

  close(code = 1000): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

beforeEach(() => {
  Socket.all = [];
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Socket);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function last(): Socket {
  const found = Socket.all[Socket.all.length - 1];
  if (found === undefined) throw new Error("no socket was opened");
  return found;
}

describe("Connection", () => {
  it("sends earlier messages with the first connection", () => {
    const connection = new Connection("ws://x/", {});
    expect(connection.send("a")).toBe(true);
    expect(last().sent).toEqual([]);
    last().open();
    expect(last().sent).toEqual(["a"]);
    connection.close();
  });

  it("rejects messages while the connection is lost, and reconnects", () => {
    const opened: boolean[] = [];
    const lost: number[] = [];
    const connection = new Connection("ws://x/", {
      onOpen: (again) => opened.push(again),
      onLost: (status) => lost.push(status) > 0,
    });
    last().open();
    last().close(1006);
    expect(connection.send("a")).toBe(false);
    expect(Socket.all).toHaveLength(1);
    vi.advanceTimersByTime(waitBefore(0));
    expect(Socket.all).toHaveLength(2);
    last().open();
    expect(opened).toEqual([false, true]);
    expect(lost).toEqual([1006]);
    expect(connection.send("b")).toBe(true);
    connection.close();
  });

  it("waits longer and longer without messages, and briefly after one", () => {
    const connection = new Connection("ws://x/", {});
    for (let failures = 0; failures < 4; failures += 1) {
      last().open();
      last().close(1006);
      vi.advanceTimersByTime(waitBefore(failures) - 1);
      expect(Socket.all).toHaveLength(failures + 1);
      vi.advanceTimersByTime(1);
      expect(Socket.all).toHaveLength(failures + 2);
    }
    last().open();
    last().onmessage?.({ data: "x" });
    last().close(1006);
    vi.advanceTimersByTime(waitBefore(0));
    expect(Socket.all).toHaveLength(6);
    connection.close();
  });

  it("stops reconnecting when its owner requests it, or it was closed", () => {
    const refused = new Connection("ws://x/", { onLost: (status) => status !== GONE });
    last().open();
    last().close(GONE);
    vi.advanceTimersByTime(60_000);
    expect(Socket.all).toHaveLength(1);
    expect(refused.send("a")).toBe(false);

    const closed = new Connection("ws://x/", {});
    last().open();
    closed.close();
    vi.advanceTimersByTime(60_000);
    expect(Socket.all).toHaveLength(2);
  });
});
