/**
 * The state at a moment of a recording: rates of links, queue lengths, flows.
 *
 * Pure functions of the recorded series, for any moment, in any order.
 */

import type { Mark, Recording, SeriesInfo } from "../api/types";
import type { SeriesStore } from "../live/seriesStore";
import type { AppendOnlySeries } from "../live/appendOnlySeries";

export interface InterfaceActivity {
  /** Its current sending rate. */
  tx_bps: number;
  /** The rate limit of its qdiscs; null for none. */
  rate_bps: number | null;
  backlog_bytes: number;
  /** The capacity of its queue; null if unknown. */
  limit_bytes: number | null;
  /** Packets dropped within the last half second of wall time. */
  recent_drops: number;
}

/** An event on the timeline. */
export interface Moment {
  kind: "drop" | Mark["kind"];
  at_s: number;
  text: string;
}

export interface FlowMoment {
  name: string;
  throughput_bps: number | null;
  rtt_s: number | null;
  cwnd_bytes: number | null;
}

/** Drops that are closer together than this are one burst, in seconds. */
const BURST_S = 0.25;
/** How long drops are shown at a link, in seconds: a few samples. */
const RECENT_S = 0.1;
/** Moments closer to the displayed time than this count as the same. */
const SAME_S = 1e-6;
/** A flow whose last value is older than this has ended. */
const STALE_S = 2;

/** The end of the recording's longest series, in seconds after its start. */
export function endOf(recording: Recording, seriesStore: SeriesStore): number {
  const ends = recording.series.map(({ key }) => seriesStore.get(recording.number, key)?.lastTime ?? 0);
  return Math.max(0, ...ends, ...recording.marks.map(({ at_s }) => at_s));
}

/** All that can be jumped to, in order of time. */
export function momentsOf(recording: Recording, seriesStore: SeriesStore): Moment[] {
  const moments: Moment[] = recording.marks.map(({ kind, text, at_s }) => ({ kind, at_s, text }));
  for (const { key, of, quantity } of recording.series) {
    if (quantity !== "drops") continue;
    const series = seriesStore.get(recording.number, key);
    for (const at_s of burstsOf(series)) moments.push({ kind: "drop", at_s, text: `packets dropped at ${of}` });
  }
  return moments.sort((one, other) => one.at_s - other.at_s);
}

/** The starts of bursts of drops: where the count has grown after a pause. */
function burstsOf(series: AppendOnlySeries | undefined): number[] {
  if (series === undefined) return [];
  const { times, values } = series;
  const found: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (let index = 1; index < series.length; index += 1) {
    if (!((values[index] ?? 0) > (values[index - 1] ?? 0))) continue;
    const time = times[index] ?? 0;
    if (time - last > BURST_S) found.push(time);
    last = time;
  }
  return found;
}

/** The nearest moment after, or before, a time. */
export function nextMoment(moments: readonly Moment[], at_s: number, direction: 1 | -1): Moment | null {
  if (direction > 0) return moments.find((one) => one.at_s > at_s + SAME_S) ?? null;
  return moments.filter((one) => one.at_s < at_s - SAME_S).at(-1) ?? null;
}

/** The activity of each interface. */
export function activityAt(recording: Recording, seriesStore: SeriesStore, at_s: number): Map<string, InterfaceActivity> {
  const found = new Map<string, InterfaceActivity>();
  const rates = new Set(recording.series.filter(({ quantity }) => quantity === "limit_bps").map(({ of }) => of));
  for (const { key, kind, of, quantity, limit } of recording.series) {
    if (kind !== "queue" && kind !== "rate") continue;
    const one = found.get(of) ?? { tx_bps: 0, rate_bps: null, backlog_bytes: 0, limit_bytes: null, recent_drops: 0 };
    found.set(of, one);
    const series = seriesStore.get(recording.number, key);
    const value = series?.valueAt(at_s) ?? null;
    if (quantity === "tx_bps") {
      one.tx_bps = value ?? 0;
      if (!rates.has(of)) one.rate_bps = limit;
    } else if (quantity === "limit_bps") one.rate_bps = value;
    else if (quantity === "backlog_bytes") {
      one.backlog_bytes = value ?? 0;
      one.limit_bytes = limit;
    } else if (quantity === "drops") one.recent_drops = (value ?? 0) - (series?.valueAt(at_s - RECENT_S) ?? 0);
  }
  return found;
}

/** The metrics of each flow. */
export function flowsAt(recording: Recording, seriesStore: SeriesStore, at_s: number): FlowMoment[] {
  const names = [...new Set(recording.series.filter(isOfFlow).map(({ of }) => of))];
  return names.map((name) => {
    const value = (quantity: string): number | null => {
      const info = recording.series.find((one) => one.of === name && one.quantity === quantity && isOfFlow(one));
      const series = info === undefined ? undefined : seriesStore.get(recording.number, info.key);
      if (series === undefined) return null;
      const count = series.countUntil(at_s);
      const time = series.times[count - 1];
      return time === undefined || at_s - time > STALE_S ? null : series.valueAt(at_s);
    };
    return { name, throughput_bps: value("throughput_bps"), rtt_s: value("rtt_s"), cwnd_bytes: value("cwnd_bytes") };
  });
}

/** The rates of interfaces that have changed in the recording, at that time: null for none. */
export function ratesAt(recording: Recording, seriesStore: SeriesStore, at_s: number): { name: string; rate_bps: number | null }[] {
  return recording.series.flatMap(({ key, of, quantity }) => {
    const series = quantity === "limit_bps" ? seriesStore.get(recording.number, key) : undefined;
    return series === undefined || series.length < 2 ? [] : [{ name: of, rate_bps: series.valueAt(at_s) }];
  });
}

function isOfFlow({ kind }: SeriesInfo): boolean {
  return kind === "tcp" || kind === "ping";
}

const EVENT = /^(\S+) - (\S+) (down|up)$/;
const TYPED_LINK = /^\S+: link (\S+) (\S+) (down|up)\b/;
const TYPED_IP = /^\S+: (?:\S+ )?ip link set (?:dev )?(\S+) (down|up)\b/;

/** Links, as `A B`, and interfaces that were down. */
export function downAt(recording: Recording, at_s: number): Set<string> {
  const down = new Set<string>();
  for (const { text, at_s: when } of recording.marks) {
    if (when > at_s + SAME_S) continue;
    const pair = EVENT.exec(text) ?? TYPED_LINK.exec(text);
    const one = TYPED_IP.exec(text);
    const names = pair !== null ? [`${pair[1]} ${pair[2]}`, `${pair[2]} ${pair[1]}`] : one !== null ? [one[1] ?? ""] : [];
    const word = pair?.[3] ?? one?.[2];
    for (const name of names) {
      if (word === "down") down.add(name);
      else down.delete(name);
    }
  }
  return down;
}
