/**
 * A WebSocket that comes back: after a loss it is opened again, sooner at first.
 *
 * The server tells its whole state at the start of each connection, so nothing
 * is repeated here. What is sent before the first connection stands waits for
 * it; what is sent during a loss is refused, since the world may have moved on.
 */

/** The server's status for a session or terminal that is not there any more. */
export const GONE = 4404;

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5000;

export interface ConnectionHandlers {
  onText?: (text: string) => void;
  onBinary?: (bytes: ArrayBuffer) => void;
  /** `again` is false for the first connection only. */
  onOpen?: (again: boolean) => void;
  /** The connection is gone, or could not be made, with the socket's status; false: try no more. */
  onLost?: (status: number) => boolean;
}

/** How long to wait before a try, by how many failed before it. */
export function waitBefore(failures: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures);
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
  ) {
    this.open();
  }

  /** Send now, or with the first connection. False where the connection is lost. */
  send(data: string | Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(data);
      return true;
    }
    if (this.everOpen || this.closed) return false;
    this.waiting.push(data);
    return true;
  }

  /** End it for good. */
  close(): void {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.socket?.close();
    this.socket = null;
  }

  private open(): void {
    this.timer = null;
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

  private lost(socket: WebSocket, status: number): void {
    if (this.closed || socket !== this.socket) return;
    this.socket = null;
    if (this.handlers.onLost?.(status) === false) {
      this.closed = true;
      return;
    }
    // A connection that was made but said nothing counts as one that failed.
    this.timer = setTimeout(() => this.open(), waitBefore(this.failures));
    this.failures += 1;
  }
}
