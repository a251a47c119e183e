/** The dock's charts: all measured quantities, over the virtual time since Run. */

import { useEffect, useMemo } from "react";
import { useStore } from "zustand";

import { isGoingOn, latestOf, type SessionView } from "../live/view";
import { RunSummary } from "../live/RunSummary";
import { ChartsBar } from "./ChartsBar";
import { isShown, panelsOf, type PanelSpec } from "./panels";
import { SeriesChart } from "./SeriesChart";
import { chartViewOf, type ChartView } from "./view";
import "uplot/dist/uPlot.min.css";
import "./series.css";
import "./charts.css";

interface ChartsTabProps {
  documentId: string;
  view: SessionView | undefined;
}

export function ChartsTab({ documentId, view }: ChartsTabProps) {
  const latest = latestOf(view);
  // Traffic before the first Run comes from terminals.
  const isEmpty = latest === null || (latest.number === 0 && !latest.series.some(({ kind }) => kind === "tcp" || kind === "ping"));
  if (view === undefined || isEmpty) {
    return (
      <p className="empty">
        Press <strong>Run</strong> to start the flows: throughput, round-trip time, congestion window and queue are plotted here as
        they are measured, over virtual time. If there is no flow yet, draw one from host to host (<strong>F</strong>).
      </p>
    );
  }
  return (
    <>
      <RunSummary documentId={documentId} recordings={view.recordings} alive={view.link === "open"} />
      <Charts session={view} />
    </>
  );
}

function Charts({ session }: { session: SessionView }) {
  const view = chartViewOf(session.seriesStore);
  const { all, shown, alone } = usePanels(session, view);
  return (
    <div className="charts">
      <ChartsBar session={session} view={view} panels={all} shown={shown} />
      <Grid session={session} view={view} shown={shown} alone={alone} />
    </div>
  );
}

/** The enabled charts, one below the other, beside a view with the same time axis. */
export function ChartsColumn({ session }: { session: SessionView }) {
  const view = chartViewOf(session.seriesStore);
  const { shown, alone } = usePanels(session, view);
  return (
    <section className="charts charts-column" aria-label="Charts beside the packets">
      <Grid session={session} view={view} shown={shown} alone={alone} />
    </section>
  );
}

interface Panels {
  all: PanelSpec[];
  shown: PanelSpec[];
  alone: string | null;
}

function usePanels(session: SessionView, view: ChartView): Panels {
  const earlier = useStore(view.store, (state) => state.earlier);
  const switched = useStore(view.store, (state) => state.switched);
  const alone = useStore(view.store, (state) => state.alone);
  const all = useMemo(() => panelsOf(session.recordings, earlier), [session.recordings, earlier]);
  useEnd(view, session, all);
  return { all, alone, shown: all.filter((panel) => isShown(panel, switched) && (alone === null || alone === panel.id)) };
}

interface GridProps {
  session: SessionView;
  view: ChartView;
  shown: readonly PanelSpec[];
  alone: string | null;
}

function Grid({ session, view, shown, alone }: GridProps) {
  return (
    <div className="charts-grid" data-alone={alone !== null}>
      {shown.map((panel) => (
        <SeriesChart
          key={panel.id}
          panel={panel}
          seriesStore={session.seriesStore}
          view={view}
          going={isGoingOn(latestOf(session))}
        />
      ))}
      {shown.length === 0 && <p className="empty">No chart is enabled: choose some in the Charts tab.</p>}
    </div>
  );
}

/** Keeps the view's end at the end of the longest line, before the charts are drawn. */
function useEnd(view: ChartView, { seriesStore }: SessionView, panels: readonly PanelSpec[]): void {
  useEffect(() => {
    const find = () => {
      const ends = panels.flatMap(({ lines }) =>
        lines.map(({ recording, key }) => seriesStore.get(recording, key)?.lastTime ?? 0),
      );
      view.end_s = Math.max(0, ...ends);
    };
    find();
    view.ticker.invalidate();
    return view.ticker.before(find);
  }, [view, seriesStore, panels]);
}
