/** Statistics over a whole series, for the legend. */

import type { AppendOnlySeries } from "../live/appendOnlySeries";

/**
 * The time average of rates or heights; each sample is valid for the time since the one before.
 * Gaps do not count.
 *
 * @returns null where there is no sample.
 */
export function averageOf(line: AppendOnlySeries): number | null {
  const { times, values } = line;
  if (line.length === 0) return null;
  let sum = 0;
  let span = 0;
  for (let at = 1; at < line.length; at += 1) {
    const passed = (times[at] ?? 0) - (times[at - 1] ?? 0);
    if (Number.isNaN(values[at]) || Number.isNaN(values[at - 1])) continue;
    sum += (values[at] ?? 0) * passed;
    span += passed;
  }
  return span > 0 ? sum / span : line.last;
}

/** The mean of independent samples, such as round-trip times. */
export function meanOf(line: AppendOnlySeries): number | null {
  let sum = 0;
  let count = 0;
  for (const value of line.values) {
    if (Number.isNaN(value)) continue;
    sum += value;
    count += 1;
  }
  return count === 0 ? null : sum / count;
}

/** The greatest value; null where there is no sample. */
export function maximumOf(line: AppendOnlySeries): number | null {
  let most: number | null = null;
  for (const value of line.values) if (!Number.isNaN(value) && (most === null || value > most)) most = value;
  return most;
}
