/**
 * Long series for a canvas: the minimum and maximum of the samples of each pixel.
 *
 * Lines of different sampling times get one shared axis: two points for each
 * pixel, and one at each edge, where the line is cut. So no visible detail is
 * lost, and the cost of drawing depends on the screen alone.
 */

import type { AppendOnlySeries } from "../live/appendOnlySeries";

/** Null is a gap; undefined is a point that the line passes from its previous sample to the next. */
export type Place = number | null | undefined;

export interface Drawn {
  /** The shared times. */
  xs: number[];
  /** One column for each line. */
  columns: Place[][];
  /** How many samples of each line are in the range, at most one a pixel. */
  counts: number[];
}

/** Decimate lines to a range of time and a width in pixels. */
export function decimate(lines: readonly (AppendOnlySeries | undefined)[], from: number, to: number, pixels: number): Drawn {
  const width = Math.max(1, Math.floor(pixels));
  const step = (to - from) / width;
  const xs = new Array<number>(2 * width + 2);
  xs[0] = from;
  xs[2 * width + 1] = to;
  for (let bucket = 0; bucket < width; bucket += 1) {
    xs[1 + 2 * bucket] = from + (bucket + 0.25) * step;
    xs[2 + 2 * bucket] = from + (bucket + 0.75) * step;
  }
  const counts: number[] = [];
  const columns = lines.map((line) => {
    const column = new Array<Place>(xs.length).fill(null);
    counts.push(line === undefined || line.length === 0 ? 0 : fill(column, line, from, to, width));
    return column;
  });
  return { xs, columns, counts };
}

function fill(column: Place[], line: AppendOnlySeries, from: number, to: number, width: number): number {
  const { times, values } = line;
  const first = firstAtOrAfter(line, from);
  const end = line.countUntil(to);
  const perSecond = width / (to - from);
  let taken = 0;
  let at = first;
  // The last place that holds a sample, if the line goes on from there.
  let joined: number | null = null;
  const put = (place: number, value: number) => {
    if (joined !== null) column.fill(undefined, joined + 1, place);
    column[place] = value;
    joined = place;
  };
  const edge = between(times, values, first, from);
  if (edge !== null) put(0, edge);
  while (at < end) {
    const bucket = bucketOf(times[at] ?? 0, from, perSecond, width);
    let least: number | null = null;
    let most: number | null = null;
    let gap: number | null = null;
    let next = at;
    for (; next < end && bucketOf(times[next] ?? 0, from, perSecond, width) === bucket; next += 1) {
      const value = values[next] ?? Number.NaN;
      if (Number.isNaN(value)) gap = next;
      else {
        if (least === null || value < (values[least] ?? 0)) least = next;
        if (most === null || value > (values[most] ?? 0)) most = next;
      }
    }
    const place = 1 + 2 * bucket;
    if (gap !== null && (least === null || gap < Math.min(least, most ?? least))) joined = null;
    if (least !== null && most !== null) {
      put(place, values[Math.min(least, most)] ?? 0);
      if (least !== most) put(place + 1, values[Math.max(least, most)] ?? 0);
      taken += 1;
    }
    if (gap !== null && gap === next - 1) joined = null;
    at = next;
  }
  const rest = between(times, values, end, to);
  if (rest !== null) put(column.length - 1, rest);
  return taken;
}

function bucketOf(time: number, from: number, perSecond: number, width: number): number {
  return Math.min(width - 1, Math.max(0, Math.floor((time - from) * perSecond)));
}

function firstAtOrAfter(line: AppendOnlySeries, time: number): number {
  let index = line.countUntil(time);
  while (index > 0 && line.times[index - 1] === time) index -= 1;
  return index;
}

/** The line's height at an edge that lies between samples `next - 1` and `next`. */
function between(times: Float64Array, values: Float64Array, next: number, time: number): number | null {
  const before = times[next - 1];
  const after = times[next];
  if (next === 0 || before === undefined || after === undefined || after <= before) return null;
  const share = (time - before) / (after - before);
  const height = (values[next - 1] ?? 0) * (1 - share) + (values[next] ?? 0) * share;
  return Number.isNaN(height) ? null : height;
}
