/** Which tab of the dock is open and what share of the window it has; kept over a reload. */

import { create } from "zustand";

export type DockTab = "charts" | "packets" | "terminals" | "flows" | "messages";

interface DockState {
  tab: DockTab;
  /** Of the window's height, 0 to 1. */
  share: number;
  folded: boolean;
  /** Whether the charts are shown beside the packets. */
  hasChartsBeside: boolean;
  show: (tab: DockTab) => void;
  setShare: (share: number) => void;
  setFolded: (folded: boolean) => void;
  setChartsBeside: (hasChartsBeside: boolean) => void;
}

const PLACE = "longfat.dock";
export const MIN_SHARE = 0.15;
export const MAX_SHARE = 0.75;
/** The canvas has the larger part. */
const USUAL = { share: 0.42, folded: false, hasChartsBeside: false };

export const useDock = create<DockState>()((set, get) => ({
  tab: "charts",
  ...loadLayout(),
  show: (tab) => {
    set({ tab, folded: false });
    saveLayout(get());
  },
  setShare: (share) => {
    set({ share: within(share) });
    saveLayout(get());
  },
  setFolded: (folded) => {
    set({ folded });
    saveLayout(get());
  },
  setChartsBeside: (hasChartsBeside) => {
    set({ hasChartsBeside });
    saveLayout(get());
  },
}));

function within(share: number): number {
  return Math.min(MAX_SHARE, Math.max(MIN_SHARE, share));
}

function loadLayout(): typeof USUAL {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? "{}") as { share?: unknown; folded?: unknown; hasChartsBeside?: unknown };
    const share = typeof kept.share === "number" ? within(kept.share) : USUAL.share;
    return { share, folded: kept.folded === true, hasChartsBeside: kept.hasChartsBeside === true };
  } catch {
    return USUAL;
  }
}

function saveLayout({ share, folded, hasChartsBeside }: DockState): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ share, folded, hasChartsBeside }));
  } catch {
    // Without storage, the dock has its defaults after a reload.
  }
}
