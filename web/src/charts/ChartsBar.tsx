/** The charts' toolbar: charts, recordings, time range, and export. */

import { useStore } from "zustand";

import { formatClock } from "../live/quantities";
import { latestOf, nameOf, type SessionView } from "../live/view";
import { csvOf, download } from "./export";
import { WHOLE } from "./figures";
import { toggled } from "./hidden";
import { isShown, type PanelSpec } from "./panels";
import { pictureOf } from "./picture";
import type { Range } from "./timeAxis";
import { rangeOf, type ChartView } from "./view";

const FOLLOWS = [
  { seconds: null, label: "all" },
  { seconds: 10, label: "last 10 s" },
  { seconds: 1, label: "last 1 s" },
  { seconds: 0.1, label: "last 100 ms" },
];

interface ChartsBarProps {
  session: SessionView;
  view: ChartView;
  panels: readonly PanelSpec[];
  shown: readonly PanelSpec[];
}

export function ChartsBar({ session, view, panels, shown }: ChartsBarProps) {
  const { zoom, follow_s, switched, hidden, earlier, log } = useStore(view.store);
  const latest = latestOf(session);
  const origin_s = latest?.start_s ?? 0;
  const marks = latest?.marks ?? [];
  const name = session.session?.name ?? "charts";
  const others = session.recordings
    .slice(0, -1)
    .filter(({ number, series }) => number > 0 || series.some(({ kind }) => kind === "tcp" || kind === "ping"));
  const save = (of: readonly PanelSpec[], options: Parameters<typeof csvOf>[2]) =>
    download(`${name}.csv`, new Blob([csvOf(of, session.seriesStore, options)], { type: "text/csv" }));
  return (
    <div className="tool-row charts-bar" role="toolbar" aria-label="Charts">
      {panels.map((panel) => (
        <button
          key={panel.id}
          type="button"
          className="small-button"
          aria-pressed={isShown(panel, switched)}
          title={panel.title}
          onClick={() => view.store.setState({ switched: toggled(switched, panel.id), alone: null })}
        >
          {panel.short}
        </button>
      ))}
      {others.length > 0 && (
        <details className="chart-menu">
          <summary className="small-button">
            Earlier runs{earlier.size > 0 ? ` (${earlier.size})` : ""}
          </summary>
          <div className="chart-menu-body">
            {[...others].reverse().map((recording) => (
              <label key={recording.number}>
                <input
                  type="checkbox"
                  checked={earlier.has(recording.number)}
                  onChange={() => view.store.setState({ earlier: toggled(earlier, recording.number) })}
                />
                {nameOf(recording)}
              </label>
            ))}
          </div>
        </details>
      )}
      {marks.length > 0 && (
        <details className="chart-menu">
          <summary className="small-button">Events ({marks.length})</summary>
          <ol className="chart-menu-body chart-marks" aria-label="Events, in order of time">
            {marks.map(({ kind, text, at_s }) => (
              <li key={`${at_s} ${text}`}>
                <time>{formatClock(at_s + origin_s)}</time> <span className={`mark-${kind}`}>{kind}</span> {text}
              </li>
            ))}
          </ol>
        </details>
      )}
      <span className="grow" />
      {hidden.size > 0 && (
        <button type="button" className="small-button" onClick={() => view.store.setState({ hidden: new Set<string>() })}>
          Show all lines
        </button>
      )}
      {zoom !== null ? (
        <>
        <RangeFields zoom={zoom} origin_s={origin_s} onZoom={(to) => view.store.setState({ zoom: to })} />
        <button type="button" className="small-button" title="Or double-click a chart" onClick={() => view.store.setState({ zoom: null })}>
          Reset zoom
        </button>
        </>
      ) : (
        <label className="charts-follow">
          Show
          <select
            aria-label="Time range"
            value={String(follow_s)}
            onChange={(event) => {
              const value = event.target.value;
              if (value === "range") view.store.setState({ zoom: rangeOf(view.store.getState(), view.end_s) });
              else view.store.setState({ follow_s: value === "null" ? null : Number(value) });
            }}
          >
            {FOLLOWS.map(({ seconds, label }) => (
              <option key={label} value={String(seconds)}>
                {label}
              </option>
            ))}
            <option value="range">from … to …</option>
          </select>
        </label>
      )}
      <button type="button" className="small-button" aria-pressed={log} title="Logarithmic value axis" onClick={() => view.store.setState({ log: !log })}>
        Log
      </button>
      <details className="chart-menu chart-menu-right">
        <summary className="small-button" title="Download as CSV">CSV</summary>
        <div className="chart-menu-body" onClick={(event) => event.currentTarget.closest("details")?.removeAttribute("open")}>
          <button type="button" className="small-button" onClick={() => save(shown, { hidden, range: rangeOf(view.store.getState(), view.end_s) })}>
            What is shown
          </button>
          <button type="button" className="small-button" onClick={() => save(panels, { hidden: new Set<string>(), range: WHOLE })}>
            All charts, the whole time
          </button>
        </div>
      </details>
      <button
        type="button"
        className="small-button"
        title="Download the charts as a PNG file"
        onClick={() => void pictureOf(shown, session.seriesStore, view).then((blob) => blob && download(`${name}.png`, blob))}
      >
        PNG
      </button>
    </div>
  );
}

interface RangeFieldsProps {
  /** After the start of the latest recording. */
  zoom: Range;
  origin_s: number;
  onZoom: (zoom: Range) => void;
}

/** The visible range, in the clock's time. */
function RangeFields({ zoom, origin_s, onZoom }: RangeFieldsProps) {
  const field = (label: string, end: keyof Range) => (
    <label className="charts-follow">
      {label}
      <input
        key={zoom[end]}
        type="number"
        step="any"
        aria-label={`${label}, in seconds of virtual time`}
        defaultValue={Number((zoom[end] + origin_s).toFixed(4))}
        onBlur={(event) => set(end, event.currentTarget.valueAsNumber)}
        onKeyDown={(event) => event.key === "Enter" && set(end, event.currentTarget.valueAsNumber)}
      />
    </label>
  );
  const set = (end: keyof Range, time: number) => {
    const next = { ...zoom, [end]: time - origin_s };
    if (next.from < next.to) onZoom(next);
  };
  return (
    <span className="charts-range">
      {field("From", "from")} {field("to", "to")} s
    </span>
  );
}
