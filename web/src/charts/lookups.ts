/** The rows of a legend, read from the seriesStore. */

import type { SeriesStore } from "../live/seriesStore";
import { averageOf, maximumOf, meanOf } from "./figures";
import type { LineSpec, PanelSpec } from "./panels";

export interface LegendRow {
  line: LineSpec;
  /** The value at the cursor, or the last one. */
  value: number | null;
  /** The statistic over the whole recording; see `PanelSpec.figure`. */
  figure: number | null;
  /** Packets dropped at the queue, where that is counted. */
  drops: number | null;
}

const FIGURES = { average: averageOf, mean: meanOf, maximum: maximumOf };

/** Labels of `PanelSpec.figure` in a legend. */
export const FIGURE_WORDS = { average: "average", mean: "mean", maximum: "max" };

/** The rows of a chart's legend, at a time in seconds since Run; null for now. */
export function legendRows(panel: PanelSpec, seriesStore: SeriesStore, time: number | null): LegendRow[] {
  return panel.lines.map((line) => {
    const series = seriesStore.get(line.recording, line.key);
    const summed = seriesStore.get(line.recording, line.figureKey) ?? series;
    const drops = line.drops === null ? undefined : seriesStore.get(line.recording, line.drops);
    const value = time === null ? series?.last : series?.valueAt(time);
    const counted = time === null ? drops?.last : drops?.valueAt(time);
    return {
      line,
      value: value ?? null,
      figure: summed === undefined ? null : FIGURES[panel.figure](summed),
      drops: counted ?? null,
    };
  });
}

/** Whether all values are 0: such lines share one row. */
export function isQuiet(row: LegendRow): boolean {
  return (row.figure === null || row.figure === 0) && (row.drops ?? 0) === 0;
}
