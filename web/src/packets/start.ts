/** Begin a capture at an interface, from anywhere in the page. */

import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { usePackets } from "./store";

/** Show the dock's packets, with a capture there; where no network runs, it is started first. */
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
