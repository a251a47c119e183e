/** Two runs at one moment: their marks on one timeline, and views that move together. */

import { create } from "zustand";
import { panelsOf, type ValueRange } from "../charts/panels";
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

/** A level that is so far above all lines is not drawn. */
const FAR = 4;
/** Room above a level for its label. */
const LEVEL_ROOM = 1.15;

/** What each quantity's axis has to hold in either run. */
export function valuesOf(sessions: readonly Pick<SessionView, "recordings" | "seriesStore">[]): ReadonlyMap<string, ValueRange> {
  const panels = sessions.flatMap(({ recordings, seriesStore }) => panelsOf(recordings, new Set()).map((panel) => ({ panel, seriesStore })));
  const ranges = new Map<string, ValueRange>();
  for (const { panel, seriesStore } of panels) {
    const range = ranges.get(panel.id) ?? { least: null, most: 0 };
    ranges.set(panel.id, range);
    for (const { recording, key } of panel.lines) {
      for (const value of seriesStore.get(recording, key)?.values ?? []) {
        if (value > range.most) range.most = value;
        if (value > 0 && (range.least === null || value < range.least)) range.least = value;
      }
    }
  }
  for (const [id, range] of ranges) {
    const of = panels.filter(({ panel }) => panel.id === id).map(({ panel }) => panel);
    const levels = of.flatMap((panel) => panel.levels.map(({ value }) => value ?? 0)).filter((value) => value <= FAR * range.most);
    const limits = of.flatMap((panel) => panel.lines.map(({ limit }) => limit ?? 0));
    range.most = range.most === 0 ? Math.max(0, ...limits) : Math.max(range.most, ...levels.map((value) => value * LEVEL_ROOM));
  }
  return ranges;
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
