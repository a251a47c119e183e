/** Starts a capture at an interface. */

import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { usePackets } from "./store";

/** Shows the Packets tab with a capture there; the network is started first if necessary. */
export async function startCapture(document: StudyDocument, interfaceName: string, filter = ""): Promise<void> {
  useDock.getState().show("packets");
  let sessionId: string;
  try {
    sessionId = await ensureSession(document.id);
  } catch {
    return; // The clock bar shows why.
  }
  const last = Math.max(0, ...(useLive.getState().sessions[sessionId]?.captures ?? []).map(({ number }) => number));
  usePackets.getState().change(sessionId, { capture: String(last + 1) });
  useLive.getState().send(sessionId, { do: "capture", interface: interfaceName, ...(filter !== "" && { filter }) });
}
