/**
 * Two runs side by side at the same moment after each one's start: one timeline, and for each
 * its network with links and queues, and its charts on the same axes.
 */

import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";

import { getJson, errorMessage } from "../api/client";
import type { OpenedDocument } from "../api/types";
import { joinCursors } from "../charts/livePlot";
import { panelsOf, type PanelSpec, type ValueRange } from "../charts/panels";
import { SeriesChart } from "../charts/SeriesChart";
import { chartViewOf, type ChartView } from "../charts/view";
import { loadRuns } from "../live/shownRun";
import { useLive, useSession } from "../live/store";
import { latestOf, type SessionView } from "../live/view";
import { MomentCard } from "../timeline/MomentCard";
import { PlayBar } from "../timeline/PlayBar";
import { showMoment } from "../timeline/player";
import { StaticCanvas } from "./StaticCanvas";
import { bind, endOfAll, momentsOfAll, valuesOf, type SideMoment } from "./comparison";
import "uplot/dist/uPlot.min.css";
import "@xyflow/react/dist/style.css";
import "../charts/series.css";
import "../charts/charts.css";
import "./beside.css";

interface BesideRunsProps {
  paths: readonly string[];
  close: () => void;
}

export function BesideRuns({ paths, close }: BesideRunsProps) {
  const { texts, failure } = useLoaded(paths);
  const one = useSession(idOf(paths, 0));
  const other = useSession(idOf(paths, 1));
  return (
    <section className="beside" aria-label="Two runs side by side">
      <header className="beside-head">
        <h1>Side by side</h1>
        <span className="grow" />
        <button type="button" className="small-button" onClick={close}>
          Back to the runs
        </button>
      </header>
      {failure !== null && <p role="alert">{failure}</p>}
      {failure === null && (texts === null || one === undefined || other === undefined) && <p role="status">Reading the runs…</p>}
      {texts !== null && one !== undefined && other !== undefined && <Both sessions={[one, other]} texts={texts} paths={paths} />}
    </section>
  );
}

function idOf(paths: readonly string[], side: number): string {
  return `beside:${side}:${paths[side] ?? ""}`;
}

function useLoaded(paths: readonly string[]): { texts: string[] | null; failure: string | null } {
  const [texts, setTexts] = useState<string[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    setTexts(null);
    setFailure(null);
    const load = async () => {
      // Times are relative to each run's start.
      await Promise.all(paths.map((path, side) => loadRuns(idOf(paths, side), [path], (one) => ({ ...one, start_s: 0 }))));
      return Promise.all(paths.map(async (path) => (await getJson<OpenedDocument>(`/api/run-study?run=${encodeURIComponent(path)}`)).text));
    };
    load().then(
      (found) => current && setTexts(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
      for (const side of paths.keys()) useLive.getState().disconnect(idOf(paths, side));
    };
  }, [paths]);
  return { texts, failure };
}

interface BothProps {
  sessions: readonly [SessionView, SessionView];
  texts: readonly string[];
  paths: readonly string[];
}

function Both({ sessions, texts, paths }: BothProps) {
  const end_s = useMemo(() => endOfAll(sessions), [sessions]);
  const moments = useMemo(() => momentsOfAll(sessions), [sessions]);
  const [first, second] = sessions;
  // Before the charts are made.
  useMemo(() => joinCursors([chartViewOf(first.seriesStore), chartViewOf(second.seriesStore)]), [first.seriesStore, second.seriesStore]);
  useEffect(() => {
    const views = [chartViewOf(first.seriesStore), chartViewOf(second.seriesStore)];
    const stop = bind(views, end_s);
    views[0]?.store.setState({ at: end_s / 2, zoom: { from: 0, to: end_s } });
    return stop;
  }, [first.seriesStore, second.seriesStore, end_s]);
  const values = useMemo(() => valuesOf(sessions), [sessions]);
  return (
    <>
      <CommonLine view={chartViewOf(first.seriesStore)} moments={moments} end_s={end_s} />
      <div className="beside-columns">
        {sessions.map((session, side) => (
          <Column key={session.id} session={session} text={texts[side] ?? ""} path={paths[side] ?? ""} values={values} />
        ))}
      </div>
    </>
  );
}

interface ColumnProps {
  session: SessionView;
  text: string;
  path: string;
  values: ReadonlyMap<string, ValueRange>;
}

function Column({ session, text, path, values }: ColumnProps) {
  const name = path.split("/").slice(-2).join(": ");
  const panels = useMemo(
    () => panelsOf(session.recordings, new Set()).filter(({ usual }) => usual).map((panel): PanelSpec => ({ ...panel, values: values.get(panel.id) ?? { least: null, most: 0 } })),
    [session.recordings, values],
  );
  const view = chartViewOf(session.seriesStore);
  // The charts' time axis is that of the longer run.
  useEffect(() => {
    view.end_s = view.store.getState().zoom?.to ?? 0;
    view.ticker.invalidate();
  }, [view]);
  return (
    <section className="beside-column" aria-label={name}>
      <h2 title={path}>{name}</h2>
      <StaticCanvas session={session} text={text} label={`Network of ${name}`} />
      <MomentCard sessionId={session.id} place="line" of={name} />
      <div className="beside-charts">
        {panels.map((panel) => (
          <SeriesChart key={panel.id} panel={panel} seriesStore={session.seriesStore} view={view} going={false} of={name} />
        ))}
        {latestOf(session)?.series.length === 0 && <p className="empty">This run has no samples: add probes to its study.</p>}
      </div>
    </section>
  );
}

interface CommonLineProps {
  view: ChartView;
  moments: readonly SideMoment[];
  end_s: number;
}

const NAMES = { bar: "Timeline of both runs", slider: "Time shown of both runs", moment: "Time of both runs", mark: "event of either run" };

function CommonLine({ view, moments, end_s }: CommonLineProps) {
  const at = useStore(view.store, (state) => state.at) ?? 0;
  return <PlayBar names={NAMES} at={at} end_s={end_s} start_s={0} moments={moments} show={(at_s) => showMoment(view, at_s ?? end_s)} showsText />;
}
