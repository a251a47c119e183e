/** The legend of a chart of many cases: its series, and the curves of theory. */

import { figureStyle, referenceDash } from "../charts/looks";
import { swatch } from "../charts/swatchPicture";
import type { GridSpec } from "./data";
import type { LegendEntry } from "./legend";
import { markSign } from "./marks";

/** The id of a series in the legend. */
export function idOf({ rank, look }: { rank: number | null; look: number | null }): string {
  return rank === null ? `look ${look ?? 0}` : `rank ${rank}`;
}

/** The colour of a curve of theory: that of its series, or the text colour. */
export function theoryColour(look: number | null): string {
  return look === null ? "var(--chart-text)" : figureStyle(look).colour;
}

/** The names of a chart's series, and then those of the curves of theory. */
export function entriesOf({ type, x, facets }: GridSpec): LegendEntry[] {
  const found = new Map<string, LegendEntry>();
  const isJoined = type !== "points" && !x.texts;
  for (const series of facets.flatMap((facet) => facet.series)) {
    if (series.label === "" || series.rank !== null) continue;
    const style = figureStyle(series.look ?? 0);
    const sign = isJoined ? swatch(style) : markSign(style.mark, style.colour);
    found.set(idOf(series), { id: idOf(series), label: series.label, sign });
  }
  for (const { series, marks } of facets) {
    // Marks of one name may belong to several series.
    const theory = [...series, ...marks.map((mark) => ({ ...mark, look: null }))];
    for (const { rank, look, label } of theory) {
      if (rank === null) continue;
      const id = idOf({ rank, look });
      found.set(id, { id, label, sign: swatch({ colour: theoryColour(look), dash: referenceDash(rank) }) });
    }
  }
  return [...found.values()];
}
