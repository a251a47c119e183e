/** State of the page: tool, selection, panels and their sizes, theme. */

import { create } from "zustand";

export type Tool = "select" | "host" | "switch" | "router" | "link" | "flow" | "note";
export type RightTab = "properties" | "yaml" | "lab" | "results";
export type View = "studio" | "labs" | "runs";
export type Theme = "system" | "light" | "dark";

export interface Selection {
  nodes: ReadonlySet<string>;
  /** By their numbers in the study's list. */
  links: ReadonlySet<number>;
  flows: ReadonlySet<string>;
  /** By their numbers in the study's `drawing`. */
  notes: ReadonlySet<number>;
  groups: ReadonlySet<number>;
}

export const NOTHING: Selection = { nodes: new Set(), links: new Set(), flows: new Set(), notes: new Set(), groups: new Set() };

interface Ui {
  view: View;
  tool: Tool;
  selection: Selection;
  /** A narrow screen shows either the network or the panel. */
  narrow: "network" | "panel";
  rightTab: RightTab;
  rightWidth: number;
  /** A lab's text is shown in place of the canvas. */
  reading: boolean;
  showsAddresses: boolean;
  theme: Theme;
  /** The language for labs' texts that the user chose; empty for the browser's. */
  language: string;
  /** A position that the YAML editor shall go to; the number makes each request distinct. */
  goTo: { line: number; column: number; focus: boolean; number: number } | null;
  set: (change: Partial<Omit<Ui, "set" | "select" | "goToLine">>) => void;
  select: (selection: Partial<Selection>) => void;
  goToLine: (line: number, options?: { column?: number; focus?: boolean }) => void;
}

const KEY = "longfat-studio-ui";
const DEFAULTS = { rightWidth: 340, reading: false, showsAddresses: false, theme: "system", language: "", rightTab: "properties" } as const;
const KEPT = ["rightWidth", "reading", "showsAddresses", "theme", "language", "rightTab"] as const;

export const useUi = create<Ui>()((set) => ({
  view: "studio",
  tool: "select",
  selection: NOTHING,
  narrow: "network",
  ...DEFAULTS,
  goTo: null,
  ...readKept(),
  set,
  select: (selection) => set({ selection: { ...NOTHING, ...selection } }),
  goToLine: (line, { column = 1, focus = false } = {}) =>
    set((state) => ({ goTo: { line, column, focus, number: (state.goTo?.number ?? 0) + 1 } })),
}));

useUi.subscribe((state) => {
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(KEPT.map((key) => [key, state[key]]))));
  } catch {
    // Without local storage, only the sizes are lost.
  }
});

function readKept(): Partial<Ui> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    const fields = kept as Record<string, unknown>;
    return Object.fromEntries(KEPT.filter((key) => typeof fields[key] === typeof DEFAULTS[key]).map((key) => [key, fields[key]]));
  } catch {
    return {};
  }
}
