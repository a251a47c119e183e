/**
 * Which terminals of a session are shown side by side, and which has the focus.
 *
 * The server has the list of terminals; this is only the page's layout of them.
 */

import { create } from "zustand";

/** The maximum number of terminals side by side. */
export const MAX_PANES = 4;

export interface Panes {
  /** From left to right. */
  shown: number[];
  /** The one that gets keyboard input; it is among those shown. */
  active: number | null;
  /** Those that were closed on this page. */
  closed: number[];
  /** A node whose next new terminal gets the focus. */
  wanted: string | null;
  /** Grows when the active terminal is to get the focus. */
  focus: number;
}

interface TerminalsState {
  sessions: Record<string, Panes>;
  readerMode: boolean;
  setReaderMode: (on: boolean) => void;
  change: (sessionId: string, change: (panes: Panes) => Panes) => void;
}

const READER_MODE = "longfat.terminals.reader";
export const NO_PANES: Panes = { shown: [], active: null, closed: [], wanted: null, focus: 0 };

export const useTerminals = create<TerminalsState>()((set) => ({
  sessions: {},
  readerMode: localStorage.getItem(READER_MODE) === "on",
  setReaderMode: (on) => {
    localStorage.setItem(READER_MODE, on ? "on" : "off");
    set({ readerMode: on });
  },
  change: (sessionId, change) =>
    set(({ sessions }) => ({
      sessions: { ...sessions, [sessionId]: change(sessions[sessionId] ?? NO_PANES) },
    })),
}));

/** Shows a terminal: in its pane if it has one, or in place of the active one. */
export function shown(panes: Panes, id: number): Panes {
  const focus = panes.focus + 1;
  if (panes.shown.includes(id)) return { ...panes, active: id, focus };
  const place = panes.active === null ? -1 : panes.shown.indexOf(panes.active);
  if (place < 0) return { ...panes, shown: [id], active: id, focus };
  return { ...panes, shown: panes.shown.map((each, index) => (index === place ? id : each)), active: id, focus };
}

/** Shows a terminal beside the others; if there is no room, in place of the active one. */
export function beside(panes: Panes, id: number): Panes {
  if (panes.shown.includes(id) || panes.shown.length >= MAX_PANES) return shown(panes, id);
  return { ...panes, shown: [...panes.shown, id], active: id, focus: panes.focus + 1 };
}

/** Shows only the active one. */
export function aloneAgain(panes: Panes): Panes {
  return panes.active === null ? panes : { ...panes, shown: [panes.active], focus: panes.focus + 1 };
}

/** Removes a terminal; its neighbour becomes active. */
export function without(panes: Panes, id: number): Panes {
  const left = panes.shown.filter((each) => each !== id);
  const active = panes.active === id ? (left[left.length - 1] ?? null) : panes.active;
  return { ...panes, shown: left, active, closed: [...panes.closed, id] };
}

/** Updates the panes to the list of terminals: new ones are added. */
export function updated(panes: Panes, terminals: readonly { id: number; node: string }[], known: ReadonlySet<number>): Panes {
  const ids = new Set(terminals.map(({ id }) => id));
  let next: Panes = panes;
  if (panes.shown.some((id) => !ids.has(id))) {
    const left = panes.shown.filter((id) => ids.has(id));
    const active = panes.active !== null && ids.has(panes.active) ? panes.active : (left[0] ?? null);
    next = { ...next, shown: left, active };
  }
  for (const { id, node } of terminals) {
    if (known.has(id) || next.closed.includes(id)) continue;
    const wanted = next.wanted === node;
    if (wanted) next = { ...beside(next, id), wanted: null };
    else if (next.shown.length < MAX_PANES) next = { ...next, shown: [...next.shown, id], active: next.active ?? id };
  }
  return next;
}
