import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { Connection, GONE, waitBefore, type ConnectionHandlers } from "./connection";

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
  verify = () => Promise.resolve();
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

let verify = () => Promise.resolve();

/** Makes a connection, and waits until it has verified the server. */
async function connect(handlers: ConnectionHandlers): Promise<Connection> {
  const connection = new Connection("ws://x/", handlers, () => verify());
  await vi.advanceTimersByTimeAsync(0);
  return connection;
}

describe("Connection", () => {
  it("sends earlier messages with the first connection", async () => {
    const connection = await connect({});
    expect(connection.send("a")).toBe(true);
    expect(last().sent).toEqual([]);
    last().open();
    expect(last().sent).toEqual(["a"]);
    connection.close();
  });

  it("rejects messages while the connection is lost, and reconnects", async () => {
    const opened: boolean[] = [];
    const lost: number[] = [];
    const connection = await connect({
      onOpen: (again) => opened.push(again),
      onLost: (status) => lost.push(status) > 0,
    });
    last().open();
    last().close(1006);
    expect(connection.send("a")).toBe(false);
    expect(Socket.all).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(waitBefore(0));
    expect(Socket.all).toHaveLength(2);
    last().open();
    expect(opened).toEqual([false, true]);
    expect(lost).toEqual([1006]);
    expect(connection.send("b")).toBe(true);
    connection.close();
  });

  it("waits longer and longer without messages, and briefly after one", async () => {
    const connection = await connect({});
    for (let failures = 0; failures < 4; failures += 1) {
      last().open();
      last().close(1006);
      await vi.advanceTimersByTimeAsync(waitBefore(failures) - 1);
      expect(Socket.all).toHaveLength(failures + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(Socket.all).toHaveLength(failures + 2);
    }
    last().open();
    last().onmessage?.({ data: "x" });
    last().close(1006);
    await vi.advanceTimersByTimeAsync(waitBefore(0));
    expect(Socket.all).toHaveLength(6);
    connection.close();
  });

  it("stops reconnecting when its owner requests it, or it was closed", async () => {
    const refused = await connect({ onLost: (status) => status !== GONE });
    last().open();
    last().close(GONE);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(1);
    expect(refused.send("a")).toBe(false);

    const closed = await connect({});
    last().open();
    closed.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(2);
  });

  it("opens no socket to a server that does not prove its identity, and one when it does", async () => {
    verify = () => Promise.reject(new Error("another program"));
    const lost: number[] = [];
    const connection = await connect({ onLost: (status) => lost.push(status) > 0 });
    expect(connection.send("a")).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(0);
    expect(lost.length).toBeGreaterThan(10);
    expect(new Set(lost)).toEqual(new Set([1006]));
    verify = () => Promise.resolve();
    await vi.advanceTimersByTimeAsync(waitBefore(99));
    last().open();
    expect(last().sent).toEqual(["a"]);
    // Once lost, it is verified again.
    verify = () => Promise.reject(new Error("another program"));
    last().close(1006);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(1);
    connection.close();
  });

  it("opens nothing when it was closed while the server was verified", async () => {
    let prove = () => {};
    verify = () => new Promise((resolve) => (prove = resolve));
    const connection = await connect({});
    connection.close();
    prove();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(Socket.all).toHaveLength(0);
  });
});
