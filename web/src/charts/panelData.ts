/** A panel's lines as uPlot wants them: on one axis of times, with two hidden lines for each band. */

import type { AlignedData } from "uplot";

import type { PanelLine } from "../api/types";

type Column = (number | null)[];

/** The shared times, then for each line its values, and the low and high ends of its band. */
export function alignedOf(lines: readonly PanelLine[]): AlignedData {
  const times = [...new Set(lines.flatMap((line) => line.times_s))].sort((one, other) => one - other);
  const place = new Map(times.map((time, index) => [time, index]));
  const columns: Column[] = [];
  for (const line of lines) {
    const parts = line.low === null || line.high === null ? [line.values] : [line.values, line.low, line.high];
    for (const part of parts) {
      const column: Column = new Array<number | null>(times.length).fill(null);
      line.times_s.forEach((time, index) => {
        column[place.get(time) ?? 0] = part[index] ?? null;
      });
      columns.push(column);
    }
  }
  return [times, ...columns];
}

/** A line's last value at a time or before it. */
export function valueAt(line: PanelLine, time: number): number | null {
  let found: number | null = null;
  for (let at = 0; at < line.times_s.length; at += 1) {
    if ((line.times_s[at] ?? 0) > time) break;
    found = line.values[at] ?? found;
  }
  return found;
}
