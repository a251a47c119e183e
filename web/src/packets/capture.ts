/** Captures by their addresses on the server, and what was asked of them. */

import { getJson } from "../api/client";
import type { PacketCapture, PacketPage, PacketRow } from "../api/types";

/** Packets of the list come by so many. */
export const PAGE = 250;
/** So many pages are kept: what was scrolled past comes again from the server. */
const MOST_PAGES = 60;

/** An address of the server's with parameters. */
export function address(path: string, capture: string, more: Record<string, string | number | boolean> = {}): string {
  const rest = Object.entries(more).map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`);
  return `${path}?${capture}${rest.join("")}`;
}

/** The rows of a filtered list: those that were asked for, and the rest by and by. */
export class PacketRows {
  /** How many there are; null before that is known. */
  total: number | null = null;
  private readonly pages = new Map<number, readonly PacketRow[] | "asked">();

  constructor(
    private readonly capture: string,
    readonly filter: string,
    private readonly changed: () => void,
    private readonly failed: (error: unknown) => void,
  ) {
    this.ask(0);
  }

  /** A row; undefined where it is not there yet, and then it is asked for. */
  get(index: number): PacketRow | undefined {
    const number = Math.floor(index / PAGE);
    const page = this.pages.get(number);
    if (page === undefined) this.ask(number);
    return page === undefined || page === "asked" ? undefined : page[index - number * PAGE];
  }

  /** The row whose packet is nearest to a time; null where the packets around that time are not there yet. */
  nearest(time_s: number): number | null {
    for (const [number, page] of this.pages) {
      if (page === "asked" || page.length === 0) continue;
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
        const after = next === undefined || next === "asked" ? undefined : next[0]?.time_s;
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

  private ask(number: number): void {
    this.pages.set(number, "asked");
    const asked = address("/api/packet-rows", this.capture, { filter: this.filter, from: number * PAGE, count: PAGE });
    getJson<PacketPage>(asked).then(
      ({ total, rows }) => {
        this.total = total;
        this.pages.set(number, rows);
        for (const oldest of this.pages.keys()) {
          if (this.pages.size <= MOST_PAGES) break;
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

/** A segment in few words, for a diagram. */
export function segmentWords({ tcp, protocol, info }: PacketRow): string {
  if (tcp === undefined) return `${protocol}: ${info}`;
  const flags = FLAGS.filter(([bit]) => (tcp.flags & bit) !== 0).map(([, word]) => word);
  const data = tcp.payload > 0 ? ` ${tcp.seq}:${tcp.seq + tcp.payload} (${tcp.payload})` : ` ${tcp.seq}`;
  const ack = (tcp.flags & 16) !== 0 ? `, ack ${tcp.ack}` : "";
  const sack = tcp.sack.map(([left, right]) => `, SACK ${left}:${right}`).join("");
  return `${flags.join(" ")}${data}${ack}${sack}, win ${tcp.window}`;
}

/** How bad a packet's marks are, for its colour. */
export function toneOf({ marks, ecn }: PacketRow): "bad" | "warn" | "mark" | "" {
  if (marks.some((mark) => mark === "retransmission" || mark === "zero_window")) return "bad";
  if (marks.some((mark) => mark === "out_of_order" || mark === "lost_segment" || mark === "duplicate")) return "warn";
  return ecn === 3 ? "mark" : "";
}
