/** Open a terminal at a node, from anywhere in the page. */

import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { shown, useTerminals } from "./store";

/** How a new terminal is until its place is measured. */
const SIZE = { rows: 24, columns: 80 };

/**
 * Show the dock's terminals with one at the node, which gets the keyboard.
 *
 * One that is there already is used, unless another is asked for. Where no
 * network runs, it is started first; the terminals' tab tells so.
 */
export async function openTerminal(
  document: StudyDocument,
  node: string,
  options: { another?: boolean } = {},
): Promise<void> {
  useDock.getState().show("terminals");
  let sessionId: string;
  try {
    sessionId = await ensureSession(document.id);
  } catch {
    return; // The clock bar shows why.
  }
  const { sessions, send } = useLive.getState();
  const { change, sessions: panes } = useTerminals.getState();
  const closed = panes[sessionId]?.closed ?? [];
  const there = sessions[sessionId]?.terminals.find(
    (each) => each.node === node && each.status === null && !closed.includes(each.id),
  );
  if (there !== undefined && options.another !== true) {
    change(sessionId, (each) => shown(each, there.id));
    return;
  }
  change(sessionId, (each) => ({ ...each, wanted: node }));
  send(sessionId, { do: "open-terminal", node, ...SIZE });
}
