/**
 * The live sessions that this page looks at: one socket and one view for each.
 *
 * Events change the view (`view.ts`), binary messages the book of series
 * (`book.ts`). Orders go out by `send`. A session that the server does not
 * know any more is ended.
 */

import { create } from "zustand";

import { socketUrl } from "../api/client";
import type { SessionEvent, SessionOrder } from "../api/types";
import { tell } from "../app/notices";
import { SeriesBook } from "./book";
import { Connection, GONE } from "./connection";
import { newView, reduce, withMessage, type SessionView } from "./view";

interface LiveState {
  sessions: Record<string, SessionView>;
  /** Look at a session; nothing happens where this page already does. */
  connect: (id: string) => void;
  /** Look no more, and forget it. */
  disconnect: (id: string) => void;
  /** Send an order; where that cannot be, a message says so. */
  send: (id: string, order: SessionOrder) => boolean;
  change: (id: string, change: (view: SessionView) => SessionView) => void;
}

const connections = new Map<string, Connection>();

let onTyped: ((id: string, typed: { node: string; line: string; status: number }) => void) | null = null;

/** Have somebody hear of each line that has ended at a terminal of any session. */
export function hearTyped(listener: NonNullable<typeof onTyped>): void {
  onTyped = listener;
}

export const useLive = create<LiveState>()((set, get) => ({
  sessions: {},

  connect: (id) => {
    if (connections.has(id)) return;
    const view = newView(id, new SeriesBook());
    set((state) => ({ sessions: { ...state.sessions, [id]: view } }));
    connections.set(id, openConnection(id, view.book));
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
      const text = "The connection to the server is lost, so this order did not reach it.";
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

/** What a document shows: its session, or a run of the workspace where it has none. */
export function shownOf({ sessionId, shownRun }: { sessionId: string | null; shownRun: string | null }): string | null {
  return sessionId ?? (shownRun === null ? null : runId(shownRun));
}

/** What a run that is shown is called among the sessions. */
export function runId(path: string): string {
  return `run:${path}`;
}

/** The view of a session, or undefined where there is none. */
export function useSession(id: string | null): SessionView | undefined {
  return useLive((state) => (id === null ? undefined : state.sessions[id]));
}

function openConnection(id: string, book: SeriesBook): Connection {
  const { change } = useLive.getState();
  return new Connection(socketUrl(`/ws/sessions/${encodeURIComponent(id)}`), {
    onText: (text) => {
      const event = JSON.parse(text) as SessionEvent;
      change(id, (view) => reduce(view, event));
      if (event.event === "typed") onTyped?.(id, event);
      // The list of messages may be out of sight.
      if (event.event === "message" && event.level !== "info") tell(event.level, event.text);
    },
    onBinary: (bytes) => book.take(bytes, performance.now()),
    onLost: (status) => {
      if (status === GONE) change(id, gone);
      if (useLive.getState().sessions[id]?.link === "ended") return false;
      change(id, (view) => ({ ...view, link: "lost" }));
      return true;
    },
  });
}

/** The server was started anew, or the session was ended elsewhere. */
function gone(view: SessionView): SessionView {
  return { ...view, link: "ended", ended: view.ended ?? "The studio was started anew, or the session was ended elsewhere." };
}
