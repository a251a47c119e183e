/** Opens a terminal at a node. */

import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { shown, useTerminals } from "./store";

/** The size of a new terminal until its element is measured. */
const SIZE = { rows: 24, columns: 80 };

/**
 * Shows the Terminals tab with a terminal at the node, which gets the focus.
 *
 * An existing one is used, unless another is requested. The network is started first
 * if necessary, which the tab shows.
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
