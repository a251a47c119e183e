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

/** Records the text before a change as a step, unless the change `joins` the last one, and that was a moment ago. */
export function pushStep(history: History, old: string, joins: boolean, nowMs: number): History {
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
