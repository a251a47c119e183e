/** The dock's charts: all that is measured, over the virtual time since Run. */

import { useEffect, useMemo } from "react";
import { useStore } from "zustand";

import { isGoingOn, latestOf, type SessionView } from "../live/view";
import { Answer } from "../live/Answer";
import { ChartsBar } from "./ChartsBar";
import { panelsOf, type PanelSpec } from "./panels";
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
  // What flows through a network nobody pressed Run on comes from terminals.
  const isEmpty = latest === null || (latest.number === 0 && !latest.series.some(({ kind }) => kind === "tcp" || kind === "ping"));
  if (view === undefined || isEmpty) {
    return (
      <p className="empty">
        Press <strong>Run</strong> to start the flows: throughput, round-trip time, window and queue are drawn here as
        they come, over virtual time. If there is no flow yet, draw one from host to host (<strong>F</strong>).
      </p>
    );
  }
  return (
    <>
      <Answer documentId={documentId} recording={latest} alive={view.link === "open"} />
      <Charts session={view} />
    </>
  );
}

function Charts({ session }: { session: SessionView }) {
  const { recordings, book } = session;
  const view = chartViewOf(book);
  const earlier = useStore(view.store, (state) => state.earlier);
  const switched = useStore(view.store, (state) => state.switched);
  const alone = useStore(view.store, (state) => state.alone);
  const all = useMemo(() => panelsOf(recordings, earlier), [recordings, earlier]);
  const shown = all.filter((panel) => isShown(panel, switched) && (alone === null || alone === panel.id));
  useEnd(view, session, all);

  return (
    <div className="charts">
      <ChartsBar session={session} view={view} panels={all} shown={shown} />
      <div className="charts-grid" data-alone={alone !== null}>
        {shown.map((panel) => (
          <SeriesChart
            key={panel.id}
            panel={panel}
            book={book}
            view={view}
            going={isGoingOn(latestOf(session))}
          />
        ))}
        {shown.length === 0 && <p className="empty">All charts are switched off: choose some above.</p>}
      </div>
    </div>
  );
}

export function isShown(panel: PanelSpec, switched: ReadonlySet<string>): boolean {
  return panel.usual !== switched.has(panel.id);
}

/** Keep the view's end at the end of the longest line, before the charts are drawn. */
function useEnd(view: ChartView, { book }: SessionView, panels: readonly PanelSpec[]): void {
  useEffect(() => {
    const find = () => {
      const ends = panels.flatMap(({ lines }) =>
        lines.map(({ recording, key }) => book.get(recording, key)?.lastTime ?? 0),
      );
      view.end_s = Math.max(0, ...ends);
    };
    find();
    view.ticker.invalidate();
    return view.ticker.before(find);
  }, [view, book, panels]);
}
