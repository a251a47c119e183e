/** A chart of finished runs: their curves together, seeds of a case as a band. */

import { useEffect, useRef } from "react";

import { toggled } from "./hidden";
import { figureStyle, referenceDash, type Look } from "./looks";
import { axisUnitOf, legendOf, referencesOf, type PanelData } from "./panelData";
import { PanelPlot } from "./panelPlot";
import { Swatch } from "./Swatch";
import type { TimeAxis } from "./timeAxis";
import "uplot/dist/uPlot.min.css";
import "./series.css";
import "./charts.css";

interface PanelChartProps {
  panel: PanelData;
  /** The time range that it shares with others. */
  axis: TimeAxis;
  hidden: ReadonlySet<Look>;
  onHidden: (hidden: ReadonlySet<Look>) => void;
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
    const isHidden = (look: Look) => latest.current.has(look);
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
        {legendOf([panel]).map(({ look, label, isDots, isSolid }) => (
          <li key={look}>
            <button type="button" aria-pressed={!hidden.has(look)} title={`${label}: click to ${hidden.has(look) ? "show" : "hide"} it in all charts`} onClick={() => onHidden(toggled(hidden, look))}>
              <Swatch style={isSolid || isDots ? { ...figureStyle(look), dash: [] } : figureStyle(look)} /> {label}
            </button>
          </li>
        ))}
      </ul>
    </figure>
  );
}
