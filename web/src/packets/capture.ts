/** Access to captures on the server by their URLs, with a cache. */

import { getJson } from "../api/client";
import type { PacketCapture, PacketPage, PacketRow } from "../api/types";

/** Page size of the packet list. */
export const PAGE = 250;
/** How many pages are cached. */
const MAX_PAGES = 60;

/** A URL of the server with parameters. */
export function address(path: string, capture: string, more: Record<string, string | number | boolean> = {}): string {
  const rest = Object.entries(more).map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`);
  return `${path}?${capture}${rest.join("")}`;
}

/**
 * The rows of a filtered list, loaded by pages on demand.
 *
 * A capture that grows gets new ones at its end, so those of its earlier state are shown on.
 */
export class PacketRows {
  /** How many there are; null if not known yet. */
  total: number | null = null;
  private readonly pages = new Map<number, readonly PacketRow[] | "loading">();

  /** @param before - the rows of an earlier state of the same capture, with the same filter. */
  constructor(
    private readonly capture: string,
    readonly filter: string,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
    before: PacketRows | null = null,
  ) {
    this.total = before?.total ?? null;
    let last = 0;
    for (const [number, page] of before?.pages ?? []) {
      if (page === "loading") continue;
      this.pages.set(number, page);
      if (page.length < PAGE) last = number;
    }
    this.load(last);
  }

  /** A row; undefined if it is not loaded yet: it is requested then. */
  get(index: number): PacketRow | undefined {
    const number = Math.floor(index / PAGE);
    const page = this.pages.get(number);
    if (page === undefined) this.load(number);
    return page === undefined || page === "loading" ? undefined : page[index - number * PAGE];
  }

  /** The row whose packet is nearest to a time; null if the packets around that time are not loaded yet. */
  nearest(time_s: number): number | null {
    for (const [number, page] of this.pages) {
      if (page === "loading" || page.length === 0) continue;
      const start = number * PAGE;
      const [first, last] = [page[0]?.time_s ?? 0, page.at(-1)?.time_s ?? 0];
      if (time_s < first) {
        if (start === 0) return 0;
      } else if (time_s <= last) {
        return start + nearestIn(page.map((row) => row.time_s), time_s);
      } else if (this.total !== null && start + page.length >= this.total) {
        return this.total - 1;
      } else {
        const next = this.pages.get(number + 1);
        const after = next === undefined || next === "loading" ? undefined : next[0]?.time_s;
        if (after !== undefined && time_s <= after) return start + page.length - (time_s - last <= after - time_s ? 1 : 0);
      }
    }
    return null;
  }

  /** The row of the list that has a packet, or a time. */
  async placeOf(wanted: { number: number } | { time: number }): Promise<number> {
    const { row } = await getJson<{ row: number }>(address("/api/packet-place", this.capture, { filter: this.filter, ...wanted }));
    return row;
  }

  private load(number: number): void {
    if (!this.pages.has(number)) this.pages.set(number, "loading");
    const url = address("/api/packet-rows", this.capture, { filter: this.filter, from: number * PAGE, count: PAGE });
    getJson<PacketPage>(url).then(
      ({ total, rows }) => {
        this.total = total;
        this.pages.set(number, rows);
        for (const oldest of this.pages.keys()) {
          if (this.pages.size <= MAX_PAGES) break;
          if (oldest !== number) this.pages.delete(oldest);
        }
        this.changed();
      },
      (error: unknown) => {
        this.pages.delete(number);
        this.failed(error);
      },
    );
  }
}

/** The index of the time that is nearest to another one, in a list that grows; -1 for an empty one. */
export function nearestIn(times: ArrayLike<number>, time_s: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) < time_s) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [times[low - 1], times[low]];
  if (before === undefined) return after === undefined ? -1 : 0;
  return after === undefined || time_s - before <= after - time_s ? low - 1 : low;
}

/** The shortest pause between two loads of a capture that grows, and the longest. */
const MIN_PAUSE_MS = 300;
const MAX_PAUSE_MS = 10_000;
/** A load takes at most this share of the time. */
const LOAD_SHARE = 0.2;

/**
 * Loads again and again while something grows: one load at a time, each to its end, and the
 * longer one takes, the longer the pause after it.
 */
export class Reloader {
  private isBusy = false;
  private isRequested = false;
  private isStopped = false;

  constructor(private readonly load: () => Promise<void>) {}

  /** There is something new. */
  request(): void {
    this.isRequested = true;
    if (!this.isBusy) void this.run();
  }

  stop(): void {
    this.isStopped = true;
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    while (this.isRequested && !this.isStopped) {
      this.isRequested = false;
      const began_ms = performance.now();
      await this.load();
      const pause_ms = (performance.now() - began_ms) * (1 / LOAD_SHARE - 1);
      await new Promise((done) => setTimeout(done, Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pause_ms))));
    }
    this.isBusy = false;
  }
}

export function loadCapture(capture: string): Promise<PacketCapture> {
  return getJson<PacketCapture>(`/api/packets?${capture}`);
}

const FLAGS: [number, string][] = [
  [2, "SYN"],
  [1, "FIN"],
  [4, "RST"],
  [8, "PSH"],
  [16, "ACK"],
  [64, "ECE"],
  [128, "CWR"],
];

/** A short description of a segment, for a diagram. */
export function segmentWords({ tcp, protocol, info }: PacketRow): string {
  if (tcp === undefined) return `${protocol}: ${info}`;
  const flags = FLAGS.filter(([bit]) => (tcp.flags & bit) !== 0).map(([, word]) => word);
  const data = tcp.payload > 0 ? ` ${tcp.seq}:${tcp.seq + tcp.payload} (${tcp.payload})` : ` ${tcp.seq}`;
  const ack = (tcp.flags & 16) !== 0 ? `, ack ${tcp.ack}` : "";
  const sack = tcp.sack.map(([left, right]) => `, SACK ${left}:${right}`).join("");
  return `${flags.join(" ")}${data}${ack}${sack}, win ${tcp.window}`;
}

/** The severity of a packet's marks, for its colour. */
export function toneOf({ marks, ecn }: PacketRow): "bad" | "warn" | "mark" | "" {
  if (marks.some((mark) => mark === "retransmission" || mark === "zero_window")) return "bad";
  if (marks.some((mark) => mark === "out_of_order" || mark === "lost_segment" || mark === "duplicate")) return "warn";
  return ecn === 3 ? "mark" : "";
}
