/** Which tab of the dock is open and what share of the window it has; kept over a reload. */

import { create } from "zustand";

export type DockTab = "charts" | "packets" | "terminals" | "flows" | "messages";

interface DockState {
  tab: DockTab;
  /** Of the window's height, 0 to 1. */
  share: number;
  folded: boolean;
  /** Whether the packets have the charts beside them. */
  hasChartsBeside: boolean;
  show: (tab: DockTab) => void;
  setShare: (share: number) => void;
  setFolded: (folded: boolean) => void;
  setChartsBeside: (hasChartsBeside: boolean) => void;
}

const PLACE = "longfat.dock";
export const LEAST_SHARE = 0.15;
export const MOST_SHARE = 0.75;
/** The canvas has the larger part. */
const USUAL = { share: 0.42, folded: false, hasChartsBeside: false };

export const useDock = create<DockState>()((set, get) => ({
  tab: "charts",
  ...remembered(),
  show: (tab) => {
    set({ tab, folded: false });
    remember(get());
  },
  setShare: (share) => {
    set({ share: within(share) });
    remember(get());
  },
  setFolded: (folded) => {
    set({ folded });
    remember(get());
  },
  setChartsBeside: (hasChartsBeside) => {
    set({ hasChartsBeside });
    remember(get());
  },
}));

function within(share: number): number {
  return Math.min(MOST_SHARE, Math.max(LEAST_SHARE, share));
}

function remembered(): typeof USUAL {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? "{}") as { share?: unknown; folded?: unknown; hasChartsBeside?: unknown };
    const share = typeof kept.share === "number" ? within(kept.share) : USUAL.share;
    return { share, folded: kept.folded === true, hasChartsBeside: kept.hasChartsBeside === true };
  } catch {
    return USUAL;
  }
}

function remember({ share, folded, hasChartsBeside }: DockState): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ share, folded, hasChartsBeside }));
  } catch {
    // A browser without storage: the dock is as usual after a reload.
  }
}
