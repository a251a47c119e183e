/** The legend of a chart of many cases: its series, and the curves of theory. */

import { figureStyle, referenceDash } from "../charts/lineStyles";
import { swatch } from "../charts/swatchPicture";
import type { GridSpec } from "../api/types";
import type { LegendEntry } from "./legend";
import { markSign } from "./marks";

/** The id of a series in the legend. */
export function idOf({ rank, style_index }: { rank: number | null; style_index: number | null }): string {
  return rank === null ? `style ${style_index ?? 0}` : `rank ${rank}`;
}

/** The colour of a curve of theory: that of its series, or the text colour. */
export function theoryColour(style_index: number | null): string {
  return style_index === null ? "var(--chart-text)" : figureStyle(style_index).colour;
}

/** The names of a chart's series, and then those of the curves of theory. */
export function entriesOf({ type, x, facets }: GridSpec): LegendEntry[] {
  const found = new Map<string, LegendEntry>();
  const isJoined = type !== "points" && !x.texts;
  for (const series of facets.flatMap((facet) => facet.series)) {
    if (series.label === "" || series.rank !== null) continue;
    const style = figureStyle(series.style_index ?? 0);
    const sign = isJoined ? swatch(style) : markSign(style.mark, style.colour);
    found.set(idOf(series), { id: idOf(series), label: series.label, sign });
  }
  for (const { series, marks } of facets) {
    // Marks of one name may belong to several series.
    const theory = [...series, ...marks.map((mark) => ({ ...mark, style_index: null }))];
    for (const { rank, style_index, label } of theory) {
      if (rank === null) continue;
      const id = idOf({ rank, style_index });
      found.set(id, { id, label, sign: swatch({ colour: theoryColour(style_index), dash: referenceDash(rank) }) });
    }
  }
  return [...found.values()];
}
