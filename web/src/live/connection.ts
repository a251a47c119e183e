/**
 * A WebSocket that reconnects: after a loss it is opened again, with increasing delays, when the
 * server has proved its identity.
 *
 * The server sends its whole state at the start of each connection, so nothing
 * is replayed here. Messages sent before the first connection wait for it; messages
 * sent while the connection is lost are rejected, since the state may have changed.
 */

import { noteFailure, verifyServer } from "../api/proof";

/** The server's status for a session or terminal that no longer exists. */
export const GONE = 4404;

/** A socket's status if it was lost without one. */
const LOST = 1006;

const FIRST_WAIT_MS = 200;
const MAX_WAIT_MS = 5000;

export interface ConnectionHandlers {
  onText?: (text: string) => void;
  onBinary?: (bytes: ArrayBuffer) => void;
  /** `again` is false for the first connection only. */
  onOpen?: (again: boolean) => void;
  /** The connection was closed or failed, with the socket's status; return false to stop reconnecting. */
  onLost?: (status: number) => boolean;
}

/** The delay before an attempt, by how many failed before it. */
export function waitBefore(failures: number): number {
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
}

export class Connection {
  private socket: WebSocket | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private failures = 0;
  private closed = false;
  private everOpen = false;
  private waiting: (string | Uint8Array<ArrayBuffer>)[] = [];

  constructor(
    private readonly url: string,
    private readonly handlers: ConnectionHandlers,
    private readonly verify: () => Promise<void> = verifyServer,
  ) {
    void this.open();
  }

  /** Sends now, or with the first connection. Returns false if the connection is lost. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(data);
      return true;
    }
    if (this.everOpen || this.closed) return false;
    this.waiting.push(data);
    return true;
  }

  /** Closes it permanently. */
  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.socket?.close();
    this.socket = null;
  }

  private async open(): Promise<void> {
    this.timer = null;
    try {
      await this.verify();
    } catch {
      this.lost(null, LOST);
      return;
    }
    if (this.closed) return;
    const socket = new WebSocket(this.url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.opened(socket);
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (socket !== this.socket) return;
      this.failures = 0;
      if (typeof event.data === "string") this.handlers.onText?.(event.data);
      else this.handlers.onBinary?.(event.data);
    };
    socket.onclose = (event) => this.lost(socket, event.code);
    this.socket = socket;
  }

  private opened(socket: WebSocket): void {
    if (socket !== this.socket) return;
    const again = this.everOpen;
    this.everOpen = true;
    this.handlers.onOpen?.(again);
    for (const data of this.waiting.splice(0)) socket.send(data);
  }

  private lost(socket: WebSocket | null, status: number): void {
    if (this.closed || socket !== this.socket) return;
    this.socket = null;
    noteFailure();
    if (this.handlers.onLost?.(status) === false) {
      this.closed = true;
      return;
    }
    // A connection without any message counts as failed.
    this.timer = setTimeout(() => void this.open(), waitBefore(this.failures));
    this.failures += 1;
  }
}
