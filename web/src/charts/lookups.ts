/** The rows of a legend, read from the seriesStore: figures are those of the visible time range. */

import type { AppendOnlySeries } from "../live/appendOnlySeries";
import type { SeriesStore } from "../live/seriesStore";
import { averageOf, maximumOf, meanOf } from "./figures";
import type { LineSpec, PanelSpec } from "./panels";
import type { Range } from "./timeAxis";

export interface LegendRow {
  line: LineSpec;
  /** The value at the cursor, or the last one of the range. */
  value: number | null;
  /** The statistic over the range; see `PanelSpec.figure`. */
  figure: number | null;
  /** Packets dropped at the queue in the range, up to the cursor, where that is counted. */
  drops: number | null;
}

const FIGURES = { average: averageOf, mean: meanOf, maximum: maximumOf };

/** Labels of `PanelSpec.figure` in a legend. */
export const FIGURE_WORDS = { average: "average", mean: "mean", maximum: "max" };

/**
 * The rows of a chart's legend.
 *
 * @param range - the visible time range, in seconds since Run.
 * @param time - the time at the cursor; null for the end of the range.
 */
export function legendRows(panel: PanelSpec, seriesStore: SeriesStore, range: Range, time: number | null): LegendRow[] {
  return panel.lines.map((line) => {
    const series = seriesStore.get(line.recording, line.key);
    const summed = seriesStore.get(line.recording, line.figureKey) ?? series;
    const drops = line.drops === null ? undefined : seriesStore.get(line.recording, line.drops);
    const value = time === null ? series?.lastUntil(range.to, range.from) : series?.valueAt(time);
    return {
      line,
      value: value ?? null,
      figure: summed === undefined ? null : FIGURES[panel.figure](summed, range),
      drops: drops === undefined ? null : dropped(drops, range.from, time ?? range.to),
    };
  });
}

/** How far a cumulative count grew. */
function dropped(drops: AppendOnlySeries, from: number, to: number): number {
  const before = drops.countBefore(from);
  return (drops.lastUntil(to) ?? 0) - (before === 0 ? 0 : (drops.values[before - 1] ?? 0));
}

/** Whether all values are 0: such lines share one row. */
export function isQuiet(row: LegendRow): boolean {
  return (row.figure === null || row.figure === 0) && (row.drops ?? 0) === 0;
}
