/** Undo and redo: stacks of texts. */

export interface History {
  undo: string[];
  redo: string[];
  /** Time of the last step that more typing may extend, in ms; null if none may. */
  openSince: number | null;
}

export const NO_HISTORY: History = { undo: [], redo: [], openSince: null };

const STEPS = 200;
const JOIN_MS = 1000;

/** Whether a change extends the previous step: never, if that was a moment ago, or always. */
export type Joins = boolean | "always";

/** Records the text before a change as a step, unless the change extends the last one. */
export function pushStep(history: History, old: string, joins: Joins, nowMs: number): History {
  if (joins === "always" && history.undo.length > 0) return { undo: history.undo, redo: [], openSince: null };
  const continues = joins && history.openSince !== null && nowMs - history.openSince < JOIN_MS;
  const openSince = joins ? nowMs : null;
  if (continues) return { undo: history.undo, redo: [], openSince };
  return { undo: [...history.undo, old].slice(-STEPS), redo: [], openSince };
}

export function stepBack(history: History, now: string): { history: History; text: string } | null {
  const text = history.undo.at(-1);
  if (text === undefined) return null;
  return { history: { undo: history.undo.slice(0, -1), redo: [...history.redo, now], openSince: null }, text };
}

export function stepForward(history: History, now: string): { history: History; text: string } | null {
  const text = history.redo.at(-1);
  if (text === undefined) return null;
  return { history: { undo: [...history.undo, now], redo: history.redo.slice(0, -1), openSince: null }, text };
}
