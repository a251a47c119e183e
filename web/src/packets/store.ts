/** Display state of a session's or run's packets; kept while other tabs are open. */

import { create } from "zustand";
import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";

export type PacketsView = "list" | "sequence" | "diagram" | "stream";

export interface PacketsState {
  /** A capture's number, or a probe's name; null for the last one. */
  capture: string | null;
  filter: string;
  view: PacketsView;
  /** The selected packet. */
  number: number | null;
  /** The TCP stream that is plotted or followed. */
  stream: number | null;
}

export const NO_PACKETS: PacketsState = { capture: null, filter: "", view: "list", number: null, stream: null };

interface Packets {
  sessions: Record<string, PacketsState>;
  change: (id: string, change: Partial<PacketsState>) => void;
}

export const usePackets = create<Packets>()((set) => ({
  sessions: {},
  change: (id, change) =>
    set((state) => ({ sessions: { ...state.sessions, [id]: { ...NO_PACKETS, ...state.sessions[id], ...change } } })),
}));

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
