/** One live chart with its title and legend. */

import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";

import type { SeriesStore } from "../live/seriesStore";
import { Legend } from "./Legend";
import { LivePlot } from "./livePlot";
import type { PanelSpec } from "./panels";
import { useThemeVersion } from "./useThemeVersion";
import type { ChartView } from "./view";

interface SeriesChartProps {
  panel: PanelSpec;
  seriesStore: SeriesStore;
  view: ChartView;
  going: boolean;
  /** Whose it is, where the same charts are shown side by side. */
  of?: string;
}

export function SeriesChart({ panel, seriesStore, view, going, of }: SeriesChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [unit, setUnit] = useState("");
  const theme = useThemeVersion();
  const { id } = panel;
  const log = useStore(view.store, (state) => state.log);
  // The plot is rebuilt only when its lines change, not with each event of the flows.
  const lines = JSON.stringify(panel);

  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plot = new LivePlot(element, JSON.parse(lines) as PanelSpec, seriesStore, view, setUnit);
    const stop = view.ticker.subscribe(() => plot.draw());
    const resizes = new ResizeObserver(() => view.ticker.invalidate());
    resizes.observe(element);
    return () => {
      stop();
      resizes.disconnect();
      plot.destroy();
    };
  }, [lines, seriesStore, view, theme, log]);

  const toggleAlone = () =>
    view.store.setState((state) => ({ alone: state.alone === id ? null : id }));

  return (
    <section className="chart" aria-label={of === undefined ? panel.title : `${panel.title} of ${of}`}>
      <header className="chart-head">
        <h2>
          {panel.title} {unit !== "" && <span>{unit}</span>}
        </h2>
        <button type="button" className="chart-alone" aria-label={`${panel.title}: maximise or restore`} title="Maximise or restore" onClick={toggleAlone}>
          ⤢
        </button>
      </header>
      <div className="chart-main">
        <div className="chart-place" ref={place} />
        <Legend panel={panel} seriesStore={seriesStore} view={view} going={going} />
      </div>
    </section>
  );
}
