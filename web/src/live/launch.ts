/**
 * Starting a document's session, pressing Run, and ending it.
 *
 * All parts of the page that need a machine use this module, so that a document
 * has one session however many buttons are pressed while it boots.
 */

import { create } from "zustand";

import { ApiError, deleteJson, postJson, errorMessage } from "../api/client";
import { retryWhileQueued } from "../api/queue";
import type { Problem, SessionInfo, SessionRequest } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { useDialogs } from "../files/dialogs";
import { useLive } from "./store";
import type { RunOptions } from "./view";

interface LaunchState {
  /** Documents whose machine is booting. */
  starting: Record<string, boolean>;
  /** Why the last start failed, by document, with the position in the text if there is one. */
  failures: Record<string, { words: string; problem: Problem | null } | undefined>;
  /** What the start is waiting for, if the machines of others come first. */
  waits: Record<string, string | undefined>;
  setWait: (documentId: string, words: string | undefined) => void;
  setStarting: (documentId: string, starting: boolean) => void;
  /** Null removes it. */
  setFailure: (documentId: string, error: unknown) => void;
}

export const useLaunch = create<LaunchState>()((set) => ({
  starting: {},
  failures: {},
  waits: {},
  setWait: (documentId, words) => set((state) => ({ waits: { ...state.waits, [documentId]: words } })),
  setStarting: (documentId, starting) =>
    set((state) => ({ starting: { ...state.starting, [documentId]: starting } })),
  setFailure: (documentId, error) => {
    const problem = error instanceof ApiError ? error.problem : null;
    const failure = error === null ? undefined : { words: errorMessage(error), problem };
    set((state) => ({ failures: { ...state.failures, [documentId]: failure } }));
  },
}));

/** The reason shown for a session that the user has ended. */
export const ENDED_HERE = "You ended it.";

const underWay = new Map<string, Promise<string>>();

/** The case that Run runs: the chosen one, else the study's first; null for a network set up by hand. */
export function caseOf(document: StudyDocument): string | null {
  const names = (document.check?.study ?? document.lastGood)?.cases.map((each) => each.name) ?? [];
  const session = document.sessionId === null ? undefined : useLive.getState().sessions[document.sessionId];
  if (session?.byHand === true && session.link !== "ended") return null;
  if (document.chosenCase !== null && names.includes(document.chosenCase)) return document.chosenCase;
  return names[0] ?? null;
}

/** Chooses the case to run, for a network that was set up by hand as well. */
export function chooseCase(documentId: string, name: string): void {
  const id = documentOf(documentId).sessionId;
  if (id !== null) useLive.getState().change(id, (view) => ({ ...view, byHand: false }));
  useDocuments.getState().chooseCase(documentId, name);
  sendText(documentId);
}

/**
 * The document's session, started if there is none.
 *
 * @param chosen - the case whose set-up is done at the start; null for the bare network.
 * @throws ApiError if the server rejects it; the clock bar shows it too.
 */
export function ensureSession(documentId: string, chosen?: string | null): Promise<string> {
  const document = documentOf(documentId);
  if (document.sessionId !== null && isAlive(document.sessionId)) {
    useLive.getState().connect(document.sessionId);
    return Promise.resolve(document.sessionId);
  }
  const running = underWay.get(documentId);
  if (running !== undefined) return running;
  if (document.sessionId !== null) {
    useLive.getState().disconnect(document.sessionId);
    useDocuments.getState().setSession(documentId, null);
  }
  const made = makeSession(document, chosen === undefined ? caseOf({ ...document, sessionId: null }) : chosen);
  underWay.set(documentId, made);
  void made.catch(() => undefined).finally(() => underWay.delete(documentId));
  return made;
}

/**
 * Press Run: the network is started if necessary and updated, and its flows start.
 *
 * The drawing is part of the command: if the network cannot apply it, nothing runs, and the
 * page asks whether to restart the network.
 */
export async function startRun(documentId: string, options: RunOptions = { lines: [] }): Promise<void> {
  try {
    const id = await ensureSession(documentId);
    const { text } = documentOf(documentId);
    const sent = { text, case: caseOf(documentOf(documentId)) };
    const { send, change, sessions } = useLive.getState();
    const known = sessions[id]?.sent;
    const isKnown = known?.text === sent.text && known.case === sent.case;
    change(id, (view) => ({ ...view, sent, runs: options, restart: null }));
    send(id, { do: "run", ...(!isKnown && sent), ...(options.lines.length > 0 && { lines: options.lines }) });
  } catch {
    // The clock bar shows why, from the launch store.
  }
}

/** Restarts the network as it is drawn now, and runs. */
export async function restartAndRun(documentId: string, options: RunOptions): Promise<void> {
  await restartSession(documentId);
  const id = documentOf(documentId).sessionId;
  if (id !== null && isAlive(id)) await startRun(documentId, options);
}

/** Ends the session after confirmation: its terminals are lost. */
export function confirmEnd(documentId: string, end: () => void): void {
  const { sessionId, name } = documentOf(documentId);
  const view = sessionId === null ? undefined : useLive.getState().sessions[sessionId];
  if (view === undefined || view.link === "ended") {
    end();
    return;
  }
  const terminals = view.terminals.filter(({ status }) => status === null).length;
  const runs = view.recordings.filter(({ number }) => number > 0).length;
  const kept = runs === 0 ? "" : ` Its ${counted(runs, "run")} ${runs === 1 ? "is" : "are"} kept in Runs, and the charts stay here.`;
  const lost = terminals > 0 ? " Files that were written in terminals are lost: download them first (Files, in the tab Terminals)." : "";
  useDialogs.getState().open({
    kind: "confirm",
    title: `End the session of ${name}?`,
    text: `Its machine is shut down${terminals > 0 ? `, with ${counted(terminals, "terminal")}` : ""}.${kept}${lost} The drawing stays.`,
    choices: [
      { label: "End the session", main: true, act: end },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

function counted(count: number, of: string): string {
  return count === 0 ? "" : `${count} ${of}${count === 1 ? "" : "s"}`;
}

/** Sends the drawing to the session, if it has changed and has no problems. */
export function sendText(documentId: string): void {
  const document = documentOf(documentId);
  const id = document.sessionId;
  if (id === null || document.check === null || document.check.problems.length > 0) return;
  const { sessions, send, change } = useLive.getState();
  const view = sessions[id];
  if (view === undefined || view.link === "ended") return;
  const now = { text: document.text, case: caseOf(document) };
  if (view.sent?.text === now.text && view.sent.case === now.case) return;
  if (send(id, { do: "update", ...now })) change(id, (each) => ({ ...each, sent: now }));
}

/** End the session and its machine. */
export async function endSession(documentId: string): Promise<void> {
  const id = documentOf(documentId).sessionId;
  if (id === null) return;
  try {
    if (isAlive(id)) await deleteJson(`/api/sessions/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) {
      useLaunch.getState().setFailure(documentId, error);
      return;
    }
  }
  // The measurements stay visible until the next session.
  useLive.getState().change(id, (view) => ({ ...view, link: "ended", ended: ENDED_HERE }));
}

/** Restarts the network as it is drawn now. */
export async function restartSession(documentId: string): Promise<void> {
  const chosen = caseOf(documentOf(documentId));
  await endSession(documentId);
  const id = documentOf(documentId).sessionId;
  if (id !== null && isAlive(id)) return;
  await ensureSession(documentId, chosen).catch(() => undefined);
}

async function makeSession(document: StudyDocument, chosen: string | null): Promise<string> {
  const { setStarting, setFailure } = useLaunch.getState();
  setStarting(document.id, true);
  setFailure(document.id, null);
  try {
    const sent = { text: document.text, case: chosen };
    const { name, path, lab } = document;
    const info = await machineFor(document.id, () => postJson<SessionInfo>("/api/sessions", { name, path, lab, ...sent } satisfies SessionRequest));
    const { connect, change } = useLive.getState();
    connect(info.id);
    change(info.id, (view) => ({ ...view, session: info, byHand: info.case === null, sent }));
    useDocuments.getState().setSession(document.id, info.id);
    return info.id;
  } catch (error) {
    setFailure(document.id, error);
    throw error;
  } finally {
    setStarting(document.id, false);
  }
}

/** Requests a machine until its turn comes, as long as the document is open. */
async function machineFor<T>(documentId: string, request: () => Promise<T>): Promise<T> {
  const { setWait } = useLaunch.getState();
  const isOpen = () => useDocuments.getState().documents.some((each) => each.id === documentId);
  try {
    return await retryWhileQueued(request, (words) => setWait(documentId, words), isOpen);
  } finally {
    setWait(documentId, undefined);
  }
}

function isAlive(id: string): boolean {
  return useLive.getState().sessions[id]?.link !== "ended";
}

function documentOf(id: string): StudyDocument {
  const found = useDocuments.getState().documents.find((each) => each.id === id);
  if (found === undefined) throw new Error("This document is closed.");
  return found;
}
