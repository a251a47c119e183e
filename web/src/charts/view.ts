/** The display state of a session's charts, shared by all of them. */

import { createStore, type StoreApi } from "zustand/vanilla";

import type { SeriesStore } from "../live/seriesStore";
import { Ticker } from "./ticker";
import type { Range } from "./timeAxis";

export interface ChartState {
  /** Null is the whole recording, or its last `follow_s` seconds. */
  zoom: Range | null;
  follow_s: number | null;
  /** The time at the cursor, in seconds since Run. */
  hover: number | null;
  /** Where the cursor is: charts and packets each show what is hovered in the other. */
  hoverFrom: "charts" | "packets" | null;
  /** The time that the timeline shows, likewise; null follows the end. */
  at: number | null;
  /** Flows and interfaces that are not shown. */
  hidden: ReadonlySet<string>;
  /** Earlier recordings drawn behind the latest. */
  earlier: ReadonlySet<number>;
  /** Charts that were enabled or disabled, against the default. */
  switched: ReadonlySet<string>;
  /** Whether the value axis is logarithmic. */
  log: boolean;
  /** The maximised chart. */
  alone: string | null;
}

export interface ChartView {
  store: StoreApi<ChartState>;
  ticker: Ticker;
  /** The end of the longest line that is shown; charts keep it up to date. */
  end_s: number;
}

const views = new WeakMap<SeriesStore, ChartView>();

/** The view of a session's charts; it lives as long as its seriesStore, whichever tab is open. */
export function chartViewOf(seriesStore: SeriesStore): ChartView {
  const known = views.get(seriesStore);
  if (known !== undefined) return known;
  const store = createStore<ChartState>()(() => ({
    zoom: null,
    follow_s: null,
    hover: null,
    hoverFrom: null,
    at: null,
    hidden: new Set<string>(),
    earlier: new Set<number>(),
    switched: new Set<string>(),
    log: false,
    alone: null,
  }));
  const ticker = new Ticker(() => seriesStore.revision);
  store.subscribe((now, last) => {
    if (now.hover === last.hover) ticker.invalidate();
  });
  const view = { store, ticker, end_s: 0 };
  views.set(seriesStore, view);
  return view;
}

/** The pointer is over a packet of this time; null if it is over none. */
export function hoverPacket({ store }: ChartView, time_s: number | null): void {
  const { hover, hoverFrom } = store.getState();
  if (time_s === null ? hoverFrom !== "packets" : hover === time_s && hoverFrom === "packets") return;
  store.setState({ hover: time_s, hoverFrom: time_s === null ? null : "packets" });
}

/** The time that is hovered in the charts; null where nothing is. */
export function hoveredInCharts({ hover, hoverFrom }: ChartState): number | null {
  return hoverFrom === "charts" ? hover : null;
}

/** The range of time to draw, where the longest line ends at `end_s`. */
export function rangeOf({ zoom, follow_s }: ChartState, end_s: number): Range {
  if (zoom !== null) return zoom;
  const to = Math.max(end_s, 1e-3);
  return { from: follow_s === null ? 0 : Math.max(0, to - follow_s), to };
}
