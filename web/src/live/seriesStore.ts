/**
 * All series of a session, by recording and key.
 *
 * They change many times a second and are drawn on canvases, so they are kept
 * outside of React's state: consumers poll `revision` and read again when it has
 * grown.
 */

import type { SeriesHeader } from "../api/types";
import { AppendOnlySeries } from "./appendOnlySeries";

export interface SeriesPart {
  key: string;
  /** Seconds since the recording's start. */
  times: Float64Array;
  values: Float64Array;
}

export interface SeriesMessage {
  recording: number;
  whole: boolean;
  parts: SeriesPart[];
}

/**
 * Decodes a message.
 *
 * @throws Error if it is malformed: shorter than its header says, or not JSON.
 */
export function decodeSeries(message: ArrayBuffer): SeriesMessage {
  if (message.byteLength < 4) throw new Error("a series message is shorter than its length field");
  const length = new DataView(message).getUint32(0, true);
  if (4 + length > message.byteLength) throw new Error("a series message ends within its header");
  const header = readHeader(new TextDecoder().decode(new Uint8Array(message, 4, length)));
  let at = Math.ceil((4 + length) / 8) * 8;
  const parts: SeriesPart[] = [];
  for (const { key, count } of header.entries) {
    if (at + 16 * count > message.byteLength) {
      throw new Error(`a series message ends within the ${count} samples of ${key}`);
    }
    const times = new Float64Array(message, at, count);
    const values = new Float64Array(message, at + 8 * count, count);
    parts.push({ key, times, values });
    at += 16 * count;
  }
  return { recording: header.recording, whole: header.whole, parts };
}

function readHeader(text: string): SeriesHeader {
  const header = JSON.parse(text) as Partial<SeriesHeader> | null;
  if (typeof header?.recording !== "number" || !Array.isArray(header.entries)) {
    throw new Error("a series message has no recording or no entries in its header");
  }
  for (const entry of header.entries) {
    if (typeof entry.key !== "string" || !Number.isInteger(entry.count) || entry.count < 0) {
      throw new Error("an entry of a series message has no key or no count");
    }
  }
  return { recording: header.recording, whole: header.whole === true, entries: header.entries };
}

/** How long drops are shown, in milliseconds of wall time. */
const RECENT_MS = 500;

export class SeriesStore {
  /** Grows with each change. */
  revision = 0;
  private readonly recordings = new Map<number, Map<string, AppendOnlySeries>>();
  private readonly drops = new Map<string, { atMs: number; count: number }[]>();

  get(recording: number, key: string): AppendOnlySeries | undefined {
    return this.recordings.get(recording)?.get(key);
  }

  /**
   * Adds the samples of a binary message of the session's socket.
   *
   * @param as - the recording's number to use in place of the message's.
   * @throws Error if it is malformed.
   */
  take(message: ArrayBuffer, nowMs: number, as?: number): void {
    const { recording: own, whole, parts } = decodeSeries(message);
    const recording = as ?? own;
    const series = this.recordings.get(recording) ?? new Map<string, AppendOnlySeries>();
    this.recordings.set(recording, series);
    for (const { key, times, values } of parts) {
      const one = series.get(key) ?? new AppendOnlySeries();
      series.set(key, one);
      if (whole) one.clear();
      else if (key.endsWith(":drops")) this.noteDrops(key, one.last ?? 0, values, nowMs);
      one.append(times, values);
    }
    this.revision += 1;
  }

  /** How many packets were dropped recently, by a key of cumulative drops. */
  recentDrops(key: string, nowMs: number): number {
    const seen = (this.drops.get(key) ?? []).filter((drop) => nowMs - drop.atMs < RECENT_MS);
    this.drops.set(key, seen);
    return seen.reduce((sum, drop) => sum + drop.count, 0);
  }

  private noteDrops(key: string, before: number, values: Float64Array, nowMs: number): void {
    const count = (values[values.length - 1] ?? before) - before;
    if (count <= 0) return;
    const list = this.drops.get(key) ?? [];
    list.push({ atMs: nowMs, count });
    this.drops.set(key, list);
  }
}
