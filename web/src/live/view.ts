/**
 * The page's view of a session, and its update by each event of the socket.
 *
 * Pure functions: the socket is in `store.ts`, the series are in `seriesStore.ts`.
 */

import type { LiveCapture, Clock, LiveLoss, Recording, SessionEvent, SessionInfo, SetupLine, TerminalInfo } from "../api/types";
import type { SeriesStore } from "./seriesStore";

export interface Message {
  /** Counted from 1 in this page. */
  number: number;
  level: "error" | "warning" | "info";
  text: string;
  /** The command it refers to, if any. */
  about: string;
  /** Virtual time of its arrival, in seconds; null before the machine has booted. */
  at_s: number | null;
  /** How often it was repeated in a row. */
  times: number;
}

/** Commands to run at nodes before the flows, to try a fix. */
export interface RunOptions {
  lines: SetupLine[];
}

/** State of the socket. */
export type LinkState = "connecting" | "open" | "lost" | "ended";

export interface SessionView {
  id: string;
  link: LinkState;
  session: SessionInfo | null;
  clock: Clock | null;
  recordings: Recording[];
  terminals: TerminalInfo[];
  captures: LiveCapture[];
  /** Where packets were lost since the boot, when last requested; null before. */
  losses: LiveLoss[] | null;
  /** Changes of the drawing that the running network cannot apply. */
  stale: string[];
  messages: Message[];
  /** Why it has ended. */
  ended: string | null;
  /** The bare network, without a case's set-up, as a lab's steps need it; null if not known yet. */
  byHand: boolean | null;
  /** The drawing last sent to the server; null if this page has sent none. */
  sent: { text: string; case: string | null } | null;
  /** The last request to run from this page, to be repeated after a restart; null if none. */
  runs: RunOptions | null;
  /** Why the network has to be restarted before Run, until the user has responded. */
  restart: string[] | null;
  /** The run of the workspace that is shown; null for a session. */
  run: string | null;
  /** Always the same object. */
  seriesStore: SeriesStore;
}

const MAX_MESSAGES = 300;

export function newView(id: string, seriesStore: SeriesStore): SessionView {
  return {
    id,
    link: "connecting",
    session: null,
    clock: null,
    recordings: [],
    terminals: [],
    captures: [],
    losses: null,
    stale: [],
    messages: [],
    ended: null,
    byHand: null,
    sent: null,
    runs: null,
    restart: null,
    run: null,
    seriesStore,
  };
}

/** The view after an event. */
export function reduce(view: SessionView, event: SessionEvent): SessionView {
  switch (event.event) {
    case "state": {
      const { session, clock, recordings, terminals, captures, stale } = event;
      const byHand = view.byHand ?? session.case === null;
      return { ...view, link: "open", session, clock, recordings, terminals, captures, stale, byHand };
    }
    case "clock": {
      const { now_s, state, speed, pace, commands, skipping } = event;
      return { ...view, clock: { now_s, state, speed, pace, commands, skipping } };
    }
    case "recording":
      return { ...view, recordings: placed(view.recordings, event.recording, (each) => each.number) };
    case "terminal":
      return { ...view, terminals: placed(view.terminals, event.terminal, (each) => each.id) };
    case "captures":
      return { ...view, captures: event.captures };
    case "stale":
      return { ...view, stale: event.reasons };
    case "restart-needed":
      // Of all connected pages, only the one that pressed Run shows the dialog.
      return view.runs === null ? view : { ...view, restart: event.reasons };
    case "message":
      return withMessage(view, { level: event.level, text: event.text, about: event.about });
    case "losses":
      return { ...view, losses: event.losses };
    case "answer":
    case "typed":
      return view;
    case "ended":
      return { ...view, link: "ended", ended: event.words };
  }
}

/** Adds a message to the view; a repetition of the last one only increments its count. */
export function withMessage(
  view: SessionView,
  added: Pick<Message, "level" | "text" | "about">,
): SessionView {
  const last = view.messages[view.messages.length - 1];
  const at_s = view.clock?.now_s ?? null;
  if (last !== undefined && last.text === added.text && last.level === added.level) {
    const again = { ...last, at_s, times: last.times + 1 };
    return { ...view, messages: [...view.messages.slice(0, -1), again] };
  }
  const message = { ...added, number: (last?.number ?? 0) + 1, at_s, times: 1 };
  return { ...view, messages: [...view.messages, message].slice(-MAX_MESSAGES) };
}

/** The recording that was started last. */
export function latestOf(view: SessionView | undefined): Recording | null {
  return view?.recordings[view.recordings.length - 1] ?? null;
}

/** Whether some of its flows are running or waiting. */
export function isGoingOn(recording: Recording | null): boolean {
  if (recording === null || recording.end_s !== null) return false;
  return recording.flows.some(({ state }) => state === "waiting" || state === "running");
}

/** The label of a recording. Recording 0 is of what was typed before the first traffic. */
export function nameOf(recording: Recording): string {
  if (recording.number === 0) return "before the first run";
  if (recording.label !== null) return recording.label === "" ? `typed ${recording.number}` : `typed ${recording.number}, ${recording.label}`;
  return recording.case === null ? `run ${recording.number}` : `run ${recording.number}, ${recording.case}`;
}

function placed<T>(list: readonly T[], item: T, id: (each: T) => number): T[] {
  const place = list.findIndex((each) => id(each) === id(item));
  if (place < 0) return [...list, item].sort((one, other) => id(one) - id(other));
  return list.map((each, index) => (index === place ? item : each));
}
