/** A chart of finished runs: their curves together, seeds of a case as a band. */

import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";

import type { PanelData } from "../api/types";
import { scaleFor, tellQuantity, unitOf } from "../live/quantities";
import { styleOf } from "./looks";
import { axesFor, drawLevel, roomy } from "./options";
import { alignedOf, valueAt } from "./panelData";
import { Swatch } from "./Swatch";
import { resolveColour, useThemeVersion } from "./theme";
import "uplot/dist/uPlot.min.css";
import "./charts.css";

interface PanelChartProps {
  panel: PanelData;
  /** Charts with the same key have one cursor. */
  syncKey: string;
  height?: number;
}

export function PanelChart({ panel, syncKey, height = 220 }: PanelChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [hover, setHover] = useState<number | null>(null);
  const theme = useThemeVersion();
  const unit = unitOf(panel.unit);
  const most = Math.max(0, ...panel.lines.flatMap(({ high, values }) => (high ?? values).map((value) => value ?? 0)));

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plot = new uPlot(optionsOf(element, panel, { syncKey, height }, setHover), alignedOf(panel.lines), element);
    const resizes = new ResizeObserver(() => plot.setSize({ width: Math.max(40, element.clientWidth), height }));
    resizes.observe(element);
    return () => {
      resizes.disconnect();
      plot.destroy();
    };
  }, [panel, syncKey, height, theme]);

  return (
    <figure className="panel-chart" aria-label={panel.title}>
      <figcaption className="chart-head">
        <h3>
          {panel.title} <span>{scaleFor(most, unit).unit}</span>
        </h3>
        {hover !== null && <span className="panel-when">at {hover.toFixed(2)} s</span>}
      </figcaption>
      <div ref={place} className="panel-place" style={{ height }} />
      <ul className="panel-legend">
        {panel.lines.map((line) => (
          <li key={line.label}>
            <Swatch look={line.look} /> {line.label}
            {hover !== null && <b>{tellQuantity(valueAt(line, hover), unit)}</b>}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function optionsOf(
  element: HTMLElement,
  panel: PanelData,
  { syncKey, height }: { syncKey: string; height: number },
  onHover: (time: number | null) => void,
): uPlot.Options {
  const unit = unitOf(panel.unit);
  const dim = resolveColour(element, "var(--fg-dim)");
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const line of panel.lines) {
    const { colour, dash } = styleOf(line.look);
    const stroke = resolveColour(element, colour);
    series.push({ stroke, width: 1.6, dash, spanGaps: true, points: { size: 5, fill: stroke } });
    if (line.low === null || line.high === null) continue;
    // A band lies between two lines that are not drawn.
    const fill = resolveColour(element, `color-mix(in srgb, ${colour} 22%, transparent)`);
    bands.push({ series: [series.length + 1, series.length], fill });
    series.push({ width: 0, spanGaps: true, points: { show: false } }, { width: 0, spanGaps: true, points: { show: false } });
  }
  return {
    width: Math.max(40, element.clientWidth),
    height,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_plot, least, most) => roomy(least, most) } },
    axes: axesFor(element, unit),
    series,
    bands,
    cursor: { sync: { key: syncKey, scales: ["x", null] }, drag: { x: true, y: false }, points: { show: false } },
    hooks: {
      setCursor: [
        (plot) => {
          const left = plot.cursor.left ?? -1;
          onHover(left < 0 ? null : plot.posToVal(left, "x"));
        },
      ],
      draw: [(plot) => panel.references.forEach(({ label, value }) => drawLevel(plot, value, label, dim))],
    },
  };
}
