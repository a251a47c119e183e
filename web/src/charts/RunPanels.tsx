/** The curves of runs: one chart for each quantity, with all runs. */

import { useEffect, useId, useMemo, useRef, useState } from "react";
import { errorMessage, getJson } from "../api/client";
import { Swatch } from "./Swatch";
import { toggled } from "./hidden";
import { figureStyle, referenceDash } from "./lineStyles";
import type { StyleIndex } from "./lineStyles";
import { axisUnitOf, legendOf, referencesOf } from "./panelData";
import type { PanelData } from "../api/types";
import { PanelPlot } from "./panelPlot";
import { TimeAxis } from "./timeAxis";
import "uplot/dist/uPlot.min.css";
import "./series.css";
import "./charts.css";

interface PanelChartProps {
  panel: PanelData;
  /** The time range that it shares with others. */
  axis: TimeAxis;
  hidden: ReadonlySet<StyleIndex>;
  onHidden: (hidden: ReadonlySet<StyleIndex>) => void;
  /** Charts with the same key share a cursor. */
  syncKey: string;
  height?: number;
}

export function PanelChart({ panel, axis, hidden, onHidden, syncKey, height = 220 }: PanelChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<PanelPlot | null>(null);
  const latest = useRef(hidden);
  const unit = axisUnitOf(panel);
  const references = referencesOf(panel);

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const isHidden = (style_index: StyleIndex) => latest.current.has(style_index);
    const made = new PanelPlot(element, panel, { axis, height, isHidden, syncKey, timeTitle: "", canDrag: true });
    plot.current = made;
    return () => {
      plot.current = null;
      made.destroy();
    };
  }, [panel, axis, syncKey, height]);

  useEffect(() => {
    latest.current = hidden;
    plot.current?.redraw();
  }, [hidden]);

  return (
    <figure className="panel-chart" aria-label={panel.title}>
      <figcaption className="chart-head">
        <h3>
          {panel.title} {unit !== "" && <span>{unit}</span>}
        </h3>
      </figcaption>
      {references.length > 0 && (
        <div className="panel-references">
          {references.map(({ text }, rank) => (
            <span key={text}>
              <Swatch style={{ colour: "var(--chart-ink)", dash: referenceDash(rank) }} /> {text}
            </span>
          ))}
        </div>
      )}
      <div ref={place} style={{ height }} />
      <ul className="panel-legend">
        {legendOf([panel]).map(({ style_index, label, isDots, isSolid }) => (
          <li key={style_index}>
            <button type="button" aria-pressed={!hidden.has(style_index)} title={`${label}: click to ${hidden.has(style_index) ? "show" : "hide"} it in all charts`} onClick={() => onHidden(toggled(hidden, style_index))}>
              <Swatch style={isSolid || isDots ? { ...figureStyle(style_index), dash: [] } : figureStyle(style_index)} /> {label}
            </button>
          </li>
        ))}
      </ul>
    </figure>
  );
}

export function RunPanels({ runs }: { runs: readonly string[] }) {
  const [panels, setPanels] = useState<PanelData[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<StyleIndex>>(new Set());
  const axis = useMemo(() => axisOf(panels ?? []), [panels]);
  const key = useId();
  const query = runs.map((run) => `runs=${encodeURIComponent(run)}`).join("&");

  useEffect(() => {
    let current = true;
    setPanels(null);
    setFailure(null);
    setHidden(new Set());
    getJson<PanelData[]>(`/api/panels?${query}`).then(
      (found) => current && setPanels(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [query]);

  if (failure !== null) return <p role="alert">The curves could not be read: {failure}</p>;
  if (panels === null) return <p role="status">Reading the curves…</p>;
  if (panels.length === 0) return <p>These runs have no curves: none of their flows or probes records a time series.</p>;
  return (
    <div className="panels">
      {panels.map((panel) => (
        <PanelChart
          key={`${panel.title} ${panel.metric}`}
          panel={panel}
          axis={axis}
          hidden={hidden}
          onHidden={setHidden}
          syncKey={key}
        />
      ))}
    </div>
  );
}

/** The time of all panels together. */
function axisOf(panels: readonly PanelData[]): TimeAxis {
  const axis = new TimeAxis();
  axis.include({ from: 0, to: 1e-3 });
  for (const { times_s } of panels.flatMap(({ lines }) => lines)) {
    axis.include({ from: times_s[0] ?? 0, to: times_s.at(-1) ?? 0 });
  }
  return axis;
}
