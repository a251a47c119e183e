/** The displayed time of a session's latest recording, and its playback. */

import { useStore } from "zustand";

import { chartViewOf, type ChartView } from "../charts/view";
import type { SeriesStore } from "../live/seriesStore";

export const PACES = [
  { pace: 0.1, label: "0.1x" },
  { pace: 0.5, label: "0.5x" },
  { pace: 1, label: "1x" },
  { pace: 2, label: "2x" },
  { pace: 5, label: "5x" },
  { pace: 10, label: "10x" },
  { pace: null, label: "max" },
] as const;

/** At the fastest pace, the whole recording takes this many seconds. */
const WHOLE_IN_S = 3;

/** The displayed time, in seconds after Run; null follows the end. */
export function useMoment(seriesStore: SeriesStore): number | null {
  return useStore(chartViewOf(seriesStore).store, (state) => state.at);
}

export function showMoment(view: ChartView, at_s: number | null): void {
  view.store.setState({ at: at_s });
}

/** The playback position after some real time; it stops at the end. */
export function advanced(at_s: number, passed_s: number, pace: number | null, end_s: number): number {
  const speed = pace ?? Math.max(10, end_s / WHOLE_IN_S);
  return Math.min(end_s, at_s + passed_s * speed);
}
