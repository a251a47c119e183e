/** Statistics over the visible part of a series, for the legend. */

import type { AppendOnlySeries } from "../live/appendOnlySeries";
import type { Range } from "./timeAxis";

/** All of a series. */
export const WHOLE: Range = { from: -Infinity, to: Infinity };

/**
 * The time average of rates or heights; each sample is valid for the time since the one before.
 * Gaps do not count.
 *
 * @returns null where there is no sample.
 */
export function averageOf(line: AppendOnlySeries, { from, to }: Range = WHOLE): number | null {
  const { times, values } = line;
  let sum = 0;
  let span = 0;
  for (let at = Math.max(1, line.countBefore(from)); at < line.length; at += 1) {
    const start = times[at - 1] ?? 0;
    if (start >= to) break;
    const passed = Math.min(times[at] ?? 0, to) - Math.max(start, from);
    if (Number.isNaN(values[at]) || Number.isNaN(values[at - 1])) continue;
    sum += (values[at] ?? 0) * passed;
    span += passed;
  }
  return span > 0 ? sum / span : line.lastUntil(to, from);
}

/** The mean of independent samples, such as round-trip times. */
export function meanOf(line: AppendOnlySeries, range: Range = WHOLE): number | null {
  let sum = 0;
  let count = 0;
  for (const value of visible(line, range)) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? null : sum / count;
}

/** The greatest value; null where there is no sample. */
export function maximumOf(line: AppendOnlySeries, range: Range = WHOLE): number | null {
  let most: number | null = null;
  for (const value of visible(line, range)) if (!Number.isNaN(value) && (most === null || value > most)) most = value;
  return most;
}

function visible(line: AppendOnlySeries, { from, to }: Range): Float64Array {
  return line.values.subarray(line.countBefore(from), line.countUntil(to));
}
