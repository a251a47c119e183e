/**
 * The live sessions that this page shows: one socket and one view for each.
 *
 * Events change the view (`view.ts`), binary messages the series seriesStore (`seriesStore.ts`).
 * Commands are sent by `send`. A session that the server no longer knows is marked
 * as ended.
 */

import { create } from "zustand";

import { socketUrl } from "../api/client";
import type { SessionEvent, SessionOrder } from "../api/types";
import { notify } from "../app/notices";
import { SeriesStore } from "./seriesStore";
import { Connection, GONE } from "./connection";
import { newView, reduce, withMessage, type SessionView } from "./view";

interface LiveState {
  sessions: Record<string, SessionView>;
  /** Connects to a session, unless it is already connected. */
  connect: (id: string) => void;
  /** Disconnects, and removes its view. */
  disconnect: (id: string) => void;
  /** Sends a command; a failure is reported as a message. */
  send: (id: string, order: SessionOrder) => boolean;
  change: (id: string, change: (view: SessionView) => SessionView) => void;
}

const connections = new Map<string, Connection>();

let onTyped: ((id: string, typed: { node: string; line: string; status: number }) => void) | null = null;

/** Sets the listener for commands that ended at a terminal of any session. */
export function setTypedListener(listener: NonNullable<typeof onTyped>): void {
  onTyped = listener;
}

export const useLive = create<LiveState>()((set, get) => ({
  sessions: {},

  connect: (id) => {
    if (connections.has(id)) return;
    const view = newView(id, new SeriesStore());
    set((state) => ({ sessions: { ...state.sessions, [id]: view } }));
    connections.set(id, openConnection(id, view.seriesStore));
  },

  disconnect: (id) => {
    connections.get(id)?.close();
    connections.delete(id);
    set((state) => ({
      sessions: Object.fromEntries(Object.entries(state.sessions).filter(([each]) => each !== id)),
    }));
  },

  send: (id, order) => {
    const sent = connections.get(id)?.send(JSON.stringify(order)) ?? false;
    if (!sent) {
      const text = "The connection to the server is lost, so this command was not sent.";
      get().change(id, (view) => withMessage(view, { level: "error", text, about: order.do }));
    }
    return sent;
  },

  change: (id, change) => {
    set((state) => {
      const view = state.sessions[id];
      return view === undefined ? state : { sessions: { ...state.sessions, [id]: change(view) } };
    });
  },
}));

/** What a document shows: its session, or a run of the workspace if it has none. */
export function shownOf({ sessionId, shownRun }: { sessionId: string | null; shownRun: string | null }): string | null {
  return sessionId ?? (shownRun === null ? null : runId(shownRun));
}

/** The key of a displayed run among the sessions. */
export function runId(path: string): string {
  return `run:${path}`;
}

/** The view of a session, or undefined if there is none. */
export function useSession(id: string | null): SessionView | undefined {
  return useLive((state) => (id === null ? undefined : state.sessions[id]));
}

function openConnection(id: string, seriesStore: SeriesStore): Connection {
  const { change } = useLive.getState();
  return new Connection(socketUrl(`/ws/sessions/${encodeURIComponent(id)}`), {
    onText: (text) => {
      const event = JSON.parse(text) as SessionEvent;
      change(id, (view) => reduce(view, event));
      if (event.event === "typed") onTyped?.(id, event);
      // The list of messages may not be visible.
      if (event.event === "message" && event.level !== "info") notify(event.level, event.text);
    },
    onBinary: (bytes) => seriesStore.take(bytes, performance.now()),
    onLost: (status) => {
      if (status === GONE) change(id, gone);
      if (useLive.getState().sessions[id]?.link === "ended") return false;
      change(id, (view) => ({ ...view, link: "lost" }));
      return true;
    },
  });
}

/** The server was restarted, or the session was ended elsewhere. */
function gone(view: SessionView): SessionView {
  return { ...view, link: "ended", ended: view.ended ?? "The studio was restarted, or the session was ended elsewhere." };
}
