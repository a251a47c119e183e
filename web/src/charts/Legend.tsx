/**
 * The text beside a live chart: each line's value at the cursor or now, and a statistic over the visible time range.
 *
 * A click on a name hides its lines in all charts.
 */

import { useEffect, useState } from "react";
import { useStore } from "zustand";

import type { SeriesStore } from "../live/seriesStore";
import { formatQuantity } from "../live/quantities";
import type { AppendOnlySeries } from "../live/appendOnlySeries";
import { maximumOf as maximum } from "./figures";
import { toggled } from "./hidden";
import { FIGURE_WORDS, isQuiet, legendRows, type LegendRow } from "./lookups";
import { styleOf } from "./lineStyles";
import { Swatch } from "./Swatch";
import type { PanelSpec } from "./panels";
import type { Range } from "./timeAxis";
import { FAR } from "./livePlot";
import { rangeOf, type ChartView } from "./view";

const EVERY_MS = 250;
/** Events are shown at the cursor within this fraction of the visible time. */
const NEAR = 0.01;

interface LegendProps {
  panel: PanelSpec;
  seriesStore: SeriesStore;
  view: ChartView;
  /** Whether the latest recording is still running. */
  going: boolean;
}

export function Legend({ panel, seriesStore, view, going }: LegendProps) {
  const state = useStore(view.store);
  const { hidden } = state;
  const hover = state.hover ?? state.at;
  useRevision(seriesStore);
  const range = rangeOf(state, view.end_s);
  const all = legendRows(panel, seriesStore, range, hover);
  const rows = [...all.filter((row) => !row.line.earlier), ...all.filter((row) => row.line.earlier)];
  const loud = rows.filter((row) => !isQuiet(row));
  const quiet = rows.filter(isQuiet);
  const isPart = range.from > 0 || range.to < view.end_s - 1e-9;
  const span = isPart ? `from ${(range.from + panel.origin_s).toFixed(3)} to ${(range.to + panel.origin_s).toFixed(3)} s` : "of the whole run";
  const when = hover === null ? (going && state.zoom === null ? "now" : "last") : `at ${(hover + panel.origin_s).toFixed(3)} s`;
  const near = hover === null ? [] : panel.marks.filter(({ at_s }) => Math.abs(at_s - hover) < NEAR * (range.to - range.from));
  // These levels are so far above the lines that they are not drawn.
  const top = Math.max(0, ...all.map(({ line }) => maximumOf(seriesStore.get(line.recording, line.key), range)));
  const level = panel.levels.at(-1);
  const isFar = level !== undefined && level.value !== null && level.value > FAR * top;
  const counts = rows.some((row) => (row.drops ?? 0) > 0);

  return (
    <div className={counts ? "legend legend-wide" : "legend"} tabIndex={0} role="group" aria-label={`${panel.title}: values`}>
      <table>
        <thead>
          <tr>
            <th>
              <span className="unseen">line</span>
            </th>
            <th>{when}</th>
            <th title={`The ${FIGURE_WORDS[panel.figure]} ${span}`}>{FIGURE_WORDS[panel.figure]}</th>
            {counts && <th title={`Packets dropped ${span}`}>drops</th>}
          </tr>
        </thead>
        <tbody>
          {loud.map((row) => (
            <Row
              key={`${row.line.recording} ${row.line.key}`}
              row={row}
              panel={panel}
              counts={counts}
              isHidden={hidden.has(row.line.of)}
              onToggle={() => view.store.setState({ hidden: toggled(hidden, row.line.of) })}
            />
          ))}
        </tbody>
      </table>
      {isFar && (
        <p className="legend-quiet">
          {level.label} {formatQuantity(level.value, panel.unit)}, far above
        </p>
      )}
      {near.map(({ text, at_s }) => (
        <p key={`${at_s} ${text}`} className="legend-mark">
          {text}
        </p>
      ))}
      {isPart && <p className="legend-quiet">Figures {span}</p>}
      {quiet.length > 0 && (
        <p className="legend-quiet" title={quiet.map((row) => row.line.label).join(", ")}>
          Always 0: {quiet.length < 4 ? quiet.map((row) => row.line.label).join(", ") : `${quiet.length} lines`}
        </p>
      )}
    </div>
  );
}

interface RowProps {
  row: LegendRow;
  panel: PanelSpec;
  counts: boolean;
  isHidden: boolean;
  onToggle: () => void;
}

function Row({ row, panel, counts, isHidden, onToggle }: RowProps) {
  const { line, value, figure, drops } = row;
  return (
    <tr className={isHidden ? "legend-hidden" : undefined}>
      <td>
        <button type="button" aria-pressed={!isHidden} title={`${line.label}: click to ${isHidden ? "show" : "hide"} it in all charts`} onClick={onToggle}>
          <Swatch style={styleOf(line.style_index)} earlier={line.earlier} />
          <span>{line.label}</span>
        </button>
      </td>
      <td>{formatQuantity(value, panel.unit)}</td>
      <td>{formatQuantity(figure, panel.unit)}</td>
      {counts && <td>{drops === null ? "" : Math.round(drops).toLocaleString("en-US")}</td>}
    </tr>
  );
}

function maximumOf(series: AppendOnlySeries | undefined, range: Range): number {
  return series === undefined ? 0 : (maximum(series, range) ?? 0);
}

/** Re-renders a few times a second while series grow. */
function useRevision(seriesStore: SeriesStore): void {
  const [, setRevision] = useState(seriesStore.revision);
  useEffect(() => {
    const timer = setInterval(() => setRevision(seriesStore.revision), EVERY_MS);
    return () => clearInterval(timer);
  }, [seriesStore]);
}
