/** A run of the workspace, shown as a session that has ended: its charts, its flows, its timeline. */

import { useEffect } from "react";

import { getBytes, getJson, errorMessage } from "../api/client";
import type { Recording } from "../api/types";
import { chartViewOf } from "../charts/view";
import { notify } from "../app/notices";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { SeriesStore } from "./seriesStore";
import { runId, useLive } from "./store";
import { newView } from "./view";

const loading = new Set<string>();

/** Load the run that a document shows; once for each run. */
export function useShownRun({ id, sessionId, shownRun }: StudyDocument): void {
  useEffect(() => {
    if (sessionId !== null || shownRun === null) return;
    load(shownRun).catch((error: unknown) => {
      notify("warning", `${shownRun} can no longer be shown. ${errorMessage(error)}`);
      useDocuments.getState().showRun(id, null);
    });
  }, [id, sessionId, shownRun]);
}

/** The runs that a document shows: one, or several to compare at the same moment, the first one on the canvas. */
export function pathsOf(shownRun: string): string[] {
  return shownRun.split("\n");
}

async function load(shownRun: string): Promise<void> {
  const id = runId(shownRun);
  if (loading.has(id) || useLive.getState().sessions[id] !== undefined) return;
  loading.add(id);
  try {
    await loadRuns(id, pathsOf(shownRun));
  } finally {
    loading.delete(id);
  }
}

/**
 * Load runs as a session that has ended, the first one in front.
 *
 * @param change - changes each recording, such as its start time.
 */
export async function loadRuns(id: string, paths: readonly string[], change: (recording: Recording) => Recording = (one) => one): Promise<void> {
  const seriesStore = new SeriesStore();
  // The first one is the latest: it is in front, in the charts as well.
  const found = await Promise.all(paths.map((path, index) => loadOne(path, { seriesStore, number: paths.length - index, alone: paths.length === 1 })));
  const earlier = new Set(found.slice(1).map(({ number }) => number));
  chartViewOf(seriesStore).store.setState({ earlier });
  const recordings = found.map(change).reverse();
  useLive.setState((state) => ({
    sessions: { ...state.sessions, [id]: { ...newView(id, seriesStore), link: "ended", recordings, run: paths.join(", ") } },
  }));
}

async function loadOne(path: string, { seriesStore, number, alone }: { seriesStore: SeriesStore; number: number; alone: boolean }): Promise<Recording> {
  const query = `run=${encodeURIComponent(path)}`;
  const [recording, series] = await Promise.all([getJson<Recording>(`/api/recording?${query}`), getBytes(`/api/recording-series?${query}`)]);
  seriesStore.take(series, performance.now(), number);
  return { ...recording, number, case: alone ? recording.case : (path.split("/").at(-1) ?? path) };
}
