/**
 * All series of a session, by recording and key.
 *
 * They change many times a second and are drawn on canvases, so they are kept
 * outside of React's state: consumers poll `revision` and read again when it has
 * grown.
 */

import { decodeSeries } from "./decode";
import { Growing } from "./growing";

/** How long drops are shown, in milliseconds of wall time. */
const RECENT_MS = 500;

export class SeriesBook {
  /** Grows with each change. */
  revision = 0;
  private readonly recordings = new Map<number, Map<string, Growing>>();
  private readonly drops = new Map<string, { atMs: number; count: number }[]>();

  get(recording: number, key: string): Growing | undefined {
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
    const series = this.recordings.get(recording) ?? new Map<string, Growing>();
    this.recordings.set(recording, series);
    for (const { key, times, values } of parts) {
      const one = series.get(key) ?? new Growing();
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
