/** Two runs at one moment: their marks on one timeline, and views that move together. */

import { create } from "zustand";
import type { ChartState, ChartView } from "../charts/view";
import { latestOf } from "../live/view";
import type { SessionView } from "../live/view";
import { endOf, momentsOf } from "../timeline/moments";
import type { Moment } from "../timeline/moments";

/** An event of one of the two. */
export interface SideMoment extends Moment {
  /** 0 or 1. */
  side: number;
}

/** All moments of either that can be jumped to, in order of time. */
export function momentsOfAll(sessions: readonly SessionView[]): SideMoment[] {
  const found = sessions.flatMap((session, side) => {
    const recording = latestOf(session);
    return recording === null ? [] : momentsOf(recording, session.seriesStore).map((one) => ({ ...one, side }));
  });
  return found.sort((one, other) => one.at_s - other.at_s);
}

/** When the longer one ends, in seconds after the start. */
export function endOfAll(sessions: readonly SessionView[]): number {
  return Math.max(0, ...sessions.map((session) => {
    const recording = latestOf(session);
    return recording === null ? 0 : endOf(recording, session.seriesStore);
  }));
}

const COMMON = ["at", "zoom", "hover", "log", "hidden", "switched"] as const satisfies readonly (keyof ChartState)[];

/** Keeps what is chosen in the views in sync; returns a function that stops it. */
export function bind(views: readonly ChartView[], end_s: number): () => void {
  let busy = false;
  const stops = views.map((view) =>
    view.store.subscribe((now, last) => {
      if (busy || COMMON.every((name) => now[name] === last[name])) return;
      busy = true;
      const common = Object.fromEntries(COMMON.map((name) => [name, now[name]])) as Partial<ChartState>;
      // "All" is the same time range in both, however long each one is.
      if (now.zoom === null) common.zoom = { from: 0, to: end_s };
      for (const each of views) each.store.setState(common);
      busy = false;
    }),
  );
  return () => stops.forEach((stop) => stop());
}

interface Beside {
  /** Their run directories below the workspace; null for none. */
  paths: readonly string[] | null;
  show: (paths: readonly string[] | null) => void;
}

export const useBeside = create<Beside>()((set) => ({ paths: null, show: (paths) => set({ paths }) }));
