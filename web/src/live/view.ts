/**
 * What the page knows of a session, and how each event of its socket changes it.
 *
 * Pure: the socket stands in `store.ts`, the series in `book.ts`.
 */

import type { LiveCapture, Clock, Recording, SessionEvent, SessionInfo, SetupLine, TerminalInfo } from "../api/types";
import type { SeriesBook } from "./book";

export interface Message {
  /** Counted from 1 in this page. */
  number: number;
  level: "error" | "warning" | "info";
  text: string;
  /** The order it speaks of, if any. */
  about: string;
  /** Virtual time when it came, in seconds; null before the machine is there. */
  at_s: number | null;
  /** How often it came in a row. */
  times: number;
}

/** What Run is to do first: lines at nodes, by which a fix is tried. */
export interface RunWish {
  lines: SetupLine[];
}

/** Whether the socket is there: for the first time, again, or no more. */
export type LinkState = "connecting" | "open" | "lost" | "ended";

export interface SessionView {
  id: string;
  link: LinkState;
  session: SessionInfo | null;
  clock: Clock | null;
  recordings: Recording[];
  terminals: TerminalInfo[];
  captures: LiveCapture[];
  /** What of the drawing a running network cannot take. */
  stale: string[];
  messages: Message[];
  /** Why it is over. */
  ended: string | null;
  /** The bare network, without a case's set-up, as a lab's steps need it; null before that is known. */
  byHand: boolean | null;
  /** What the server knows of the drawing; null where this page has not told it. */
  sent: { text: string; case: string | null } | null;
  /** What Run was pressed with here the last time, to be done again after a restart; null before. */
  runs: RunWish | null;
  /** Why the network has to be started anew before Run, until a person has answered. */
  restart: string[] | null;
  /** The run of the workspace that it is; null for a session. */
  run: string | null;
  /** Always the same object. */
  book: SeriesBook;
}

const MOST_MESSAGES = 300;

export function newView(id: string, book: SeriesBook): SessionView {
  return {
    id,
    link: "connecting",
    session: null,
    clock: null,
    recordings: [],
    terminals: [],
    captures: [],
    stale: [],
    messages: [],
    ended: null,
    byHand: null,
    sent: null,
    runs: null,
    restart: null,
    run: null,
    book,
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
      const { now_s, state, speed, pace } = event;
      return { ...view, clock: { now_s, state, speed, pace } };
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
      // Of all pages that look, the one that has pressed Run asks.
      return view.runs === null ? view : { ...view, restart: event.reasons };
    case "message":
      return withMessage(view, { level: event.level, text: event.text, about: event.about });
    case "answer":
    case "typed":
      return view;
    case "ended":
      return { ...view, link: "ended", ended: event.words };
  }
}

/** The view with a message more; one that says the same as the last only counts up. */
export function withMessage(
  view: SessionView,
  said: Pick<Message, "level" | "text" | "about">,
): SessionView {
  const last = view.messages[view.messages.length - 1];
  const at_s = view.clock?.now_s ?? null;
  if (last !== undefined && last.text === said.text && last.level === said.level) {
    const again = { ...last, at_s, times: last.times + 1 };
    return { ...view, messages: [...view.messages.slice(0, -1), again] };
  }
  const message = { ...said, number: (last?.number ?? 0) + 1, at_s, times: 1 };
  return { ...view, messages: [...view.messages, message].slice(-MOST_MESSAGES) };
}

/** The recording that was started last. */
export function latestOf(view: SessionView | undefined): Recording | null {
  return view?.recordings[view.recordings.length - 1] ?? null;
}

/** Whether flows of it still go on, or wait for their turn. */
export function isGoingOn(recording: Recording | null): boolean {
  if (recording === null || recording.end_s !== null) return false;
  return recording.flows.some(({ state }) => state === "waiting" || state === "running");
}

/** What a recording is called. The first is not of a press on Run, but of what is done at terminals before. */
export function nameOf(recording: Recording): string {
  if (recording.number === 0) return "before the first run";
  return recording.case === null ? `run ${recording.number}` : `run ${recording.number}, ${recording.case}`;
}

function placed<T>(list: readonly T[], item: T, id: (each: T) => number): T[] {
  const place = list.findIndex((each) => id(each) === id(item));
  if (place < 0) return [...list, item].sort((one, other) => id(one) - id(other));
  return list.map((each, index) => (index === place ? item : each));
}
