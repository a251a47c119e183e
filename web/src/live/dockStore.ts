/** Which tab of the dock is open and how high it is; kept over a reload. */

import { create } from "zustand";

export type DockTab = "charts" | "terminals" | "flows" | "messages";

interface DockState {
  tab: DockTab;
  height: number;
  folded: boolean;
  show: (tab: DockTab) => void;
  setHeight: (height: number) => void;
  setFolded: (folded: boolean) => void;
}

const PLACE = "longfat.dock";
export const LEAST_HEIGHT = 120;
/** On low screens, the canvas has the larger half. */
const USUAL = { height: Math.max(220, Math.min(330, Math.round(window.innerHeight * 0.42))), folded: false };

export const useDock = create<DockState>()((set, get) => ({
  tab: "charts",
  ...remembered(),
  show: (tab) => {
    set({ tab, folded: false });
    remember(get());
  },
  setHeight: (height) => {
    set({ height: Math.max(LEAST_HEIGHT, Math.round(height)) });
    remember(get());
  },
  setFolded: (folded) => {
    set({ folded });
    remember(get());
  },
}));

function remembered(): { height: number; folded: boolean } {
  try {
    const kept = JSON.parse(localStorage.getItem(PLACE) ?? "{}") as { height?: unknown; folded?: unknown };
    const height = typeof kept.height === "number" ? Math.max(LEAST_HEIGHT, kept.height) : USUAL.height;
    return { height, folded: kept.folded === true };
  } catch {
    return USUAL;
  }
}

function remember({ height, folded }: DockState): void {
  try {
    localStorage.setItem(PLACE, JSON.stringify({ height, folded }));
  } catch {
    // A browser without storage: the dock is as usual after a reload.
  }
}
