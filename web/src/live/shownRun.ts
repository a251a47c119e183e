/** A run of the workspace, shown as a session that has ended: its charts, its flows, its timeline. */

import { useEffect } from "react";

import { getBytes, getJson, wordsOf } from "../api/client";
import type { Recording } from "../api/types";
import { tell } from "../app/notices";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { SeriesBook } from "./book";
import { runId, useLive } from "./store";
import { newView } from "./view";

const loading = new Set<string>();

/** Load the run that a document shows; once for each. */
export function useShownRun({ id, sessionId, shownRun }: StudyDocument): void {
  useEffect(() => {
    if (sessionId !== null || shownRun === null) return;
    load(shownRun).catch((error: unknown) => {
      tell("warning", `${shownRun} cannot be shown any more. ${wordsOf(error)}`);
      useDocuments.getState().showRun(id, null);
    });
  }, [id, sessionId, shownRun]);
}

async function load(path: string): Promise<void> {
  const id = runId(path);
  if (loading.has(id) || useLive.getState().sessions[id] !== undefined) return;
  loading.add(id);
  try {
    const query = `run=${encodeURIComponent(path)}`;
    const [recording, series] = await Promise.all([
      getJson<Recording>(`/api/recording?${query}`),
      getBytes(`/api/recording-series?${query}`),
    ]);
    const book = new SeriesBook();
    book.take(series, performance.now());
    useLive.setState((state) => ({
      sessions: { ...state.sessions, [id]: { ...newView(id, book), link: "ended", recordings: [recording], run: path } },
    }));
  } finally {
    loading.delete(id);
  }
}
