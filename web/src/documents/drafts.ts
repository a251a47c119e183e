/**
 * Open documents belong to the server: each change goes there, and changes of other tabs come back.
 *
 * Changes are sent as single steps, so that two tabs which change one text both have
 * their steps in its history. Steps not yet sent, because the server is unreachable, wait
 * here, and in the browser's storage for the time after a reload.
 */

import { create } from "zustand";

import { ApiError, deleteJson, getJson, MISDIRECTED, postJson, putLatest, setWorkspace, socketUrl } from "../api/client";
import type { ChangedDraft, ChangeDraftRequest, Draft, DraftEvent, DraftFields, Drafts, NewDraftRequest } from "../api/types";
import { notify } from "../app/notices";
import { Connection } from "../live/connection";
import type { History } from "./history";
import type { StudyDocument } from "./model";

export type Step = { set: string; step: boolean } | { undo: true } | { redo: true };

interface Waiting {
  steps: Step[];
  fields: DraftFields;
  closed: boolean | null;
}

/** Fields of a draft, and their names in a document. */
const FIELDS = {
  name: "name",
  path: "path",
  lab: "lab",
  saved: "savedText",
  version: "version",
  chosen_case: "chosenCase",
  session: "sessionId",
  shown_run: "shownRun",
  imported: "imported",
} as const satisfies Record<keyof DraftFields, keyof StudyDocument>;

/** State of the server: reachable, unreachable, replaced by another one, or not open to this browser any more. */
export type ServerLink = "open" | "lost" | "another" | "refused";

interface DraftsState {
  link: ServerLink;
  /** The workspace's folder. */
  path: string;
  /** Drafts whose tabs were closed, the last one first. */
  closed: Draft[];
}

export const useDrafts = create<DraftsState>()(() => ({ link: "open", path: "", closed: [] }));

/** Interface of the store of documents, for drafts that another tab has changed. */
export interface Taker {
  take: (draft: Draft) => void;
  close: (id: string) => void;
  /** Whether a document is open here. */
  has: (id: string) => boolean;
}

/** The base of no draft: the server responds with the whole draft. */
const NO_REVISION = Number.MAX_SAFE_INTEGER;

const PAUSE_MS = 250;
const RETRY_MS = 1500;

/** Identifies this page among all that are open. */
export const page = typeof crypto === "undefined" ? "page" : crypto.randomUUID();
const waiting = new Map<string, Waiting>();
const revisions = new Map<string, number>();
/** Drafts with changes by another tab that were not received yet. */
const behind = new Set<string>();
/** Empty drafts that were closed before the server had them. */
const doomed = new Set<string>();
let workspace: string | null = null;
let instance: string | null = null;
let taker: Taker | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let sending: Promise<void> | null = null;

export function workspaceId(): string {
  return workspace ?? "";
}

/** Loads the drafts and subscribes to changes. */
export async function beginDrafts(to: Taker): Promise<void> {
  taker = to;
  const found = await getJson<Drafts>("/api/drafts");
  workspace = found.workspace;
  instance = found.instance;
  setWorkspace(workspace);
  useDrafts.setState({ path: found.path });
  takeAll(found.drafts);
  for (const [id, unsent] of Object.entries(readUnsent())) {
    waiting.set(id, unsent);
    behind.add(id);
  }
  if (waiting.size > 0) await flush();
  listen();
  window.addEventListener("pagehide", keepUnsent);
}

/**
 * A new network, whose name and id the server gives, so that two tabs never give the same.
 *
 * Parameters: `text`, with `{number}` for the number of its name; `first`, only if nothing is open.
 * Returns its id; null if the server is unreachable.
 */
export async function beginNew(text: string, first: boolean): Promise<string | null> {
  try {
    const draft = await postJson<Draft>("/api/drafts", { page, text, first } satisfies NewDraftRequest);
    takeOne(draft);
    return draft.id;
  } catch {
    return null;
  }
}

/** A step was made with a text. */
export function noteStep(id: string, step: Step): void {
  const one = waitingOf(id);
  const last = one.steps.at(-1);
  // Continuous typing is one step.
  if ("set" in step && !step.step && last !== undefined && "set" in last) last.set = step.set;
  else one.steps.push(step);
  soon();
}

/** Documents were opened or closed, or their names, files or sessions changed. */
export function noteDocuments(now: readonly StudyDocument[], before: readonly StudyDocument[], untouched: (one: StudyDocument) => boolean): void {
  const old = new Map(before.map((one) => [one.id, one]));
  for (const document of now) {
    const known = old.get(document.id);
    old.delete(document.id);
    if (known === document) continue;
    const names = Object.keys(FIELDS) as (keyof typeof FIELDS)[];
    const changed = names.filter((name) => known === undefined || known[FIELDS[name]] !== document[FIELDS[name]]);
    if (changed.length === 0) continue;
    const one = waitingOf(document.id);
    Object.assign(one.fields, Object.fromEntries(changed.map((name) => [name, document[FIELDS[name]]])));
    if (known === undefined && !revisions.has(document.id)) one.steps.push({ set: document.text, step: false });
    if (known === undefined) one.closed = false;
    soon();
  }
  for (const document of old.values()) {
    if (untouched(document)) {
      waiting.delete(document.id);
      removeDraft(document.id);
      continue;
    }
    waitingOf(document.id).closed = true;
    soon();
  }
}

/** Removes an empty draft; one that is being sent, once it has arrived. */
function removeDraft(id: string): void {
  if (!revisions.delete(id)) doomed.add(id);
  else void deleteJson(`/api/drafts/${id}?page=${page}`).catch(() => undefined);
}

/** Reopens a closed draft. */
export async function reopen(draft: Draft): Promise<void> {
  waitingOf(draft.id).closed = false;
  taker?.take({ ...draft, closed_s: null });
  dropClosed(draft.id);
  await flush();
}

/** A draft as a document that was not checked yet. */
export function documentOf(draft: Draft): StudyDocument {
  const { id, name, path, lab, text, imported, version } = draft;
  const { saved: savedText, chosen_case: chosenCase, session: sessionId, shown_run: shownRun } = draft;
  return { id, name, path, lab, text, savedText, version, imported, check: null, lastGood: null, chosenCase, sessionId, shownRun };
}

export function historyOf({ undo, redo }: Draft): History {
  return { undo, redo, openSince: null };
}

/** Sends all pending changes now. */
export function flush(): Promise<void> {
  clearTimeout(timer);
  timer = undefined;
  sending ??= send().finally(() => {
    sending = null;
    if (waiting.size > 0) soon(RETRY_MS);
  });
  return sending;
}

async function send(): Promise<void> {
  for (const id of [...waiting.keys()]) {
    const { link } = useDrafts.getState();
    if (workspace === null || link === "another" || link === "refused") return keepUnsent();
    let one: Waiting | undefined;
    // At the last moment, so that a page that is unloaded before stores it.
    const take = () => {
      one = waiting.get(id);
      if (one === undefined) throw new Error("the draft was closed meanwhile");
      waiting.delete(id);
      const base = behind.has(id) ? NO_REVISION : (revisions.get(id) ?? null);
      behind.delete(id);
      return { page, base, steps: one.steps, fields: one.fields, closed: one.closed } satisfies ChangeDraftRequest;
    };
    try {
      const answer = await putLatest<ChangedDraft>(`/api/drafts/${id}`, take);
      revisions.set(id, answer.revision);
      if (doomed.delete(id)) {
        removeDraft(id);
        continue;
      }
      if (answer.draft === null) continue;
      // Another tab has changed it meanwhile. Changes made here since are applied on top.
      if (waiting.has(id)) behind.add(id);
      else if (answer.draft.closed_s === null) taker?.take(answer.draft);
    } catch (error) {
      if (one === undefined && !waiting.has(id)) continue;
      const link = linkAfter(error);
      if (link === null) {
        notify("error", `The drawing could not be saved. ${error instanceof Error ? error.message : ""}`);
        continue;
      }
      if (one !== undefined) putBack(id, one);
      useDrafts.setState({ link });
      return keepUnsent();
    }
  }
  keepUnsent();
}

/** Changes that could not be sent come before later ones. */
function putBack(id: string, one: Waiting): void {
  const since = waiting.get(id);
  waiting.set(id, {
    steps: [...one.steps, ...(since?.steps ?? [])],
    fields: { ...one.fields, ...since?.fields },
    closed: since?.closed ?? one.closed,
  });
}

function waitingOf(id: string): Waiting {
  const one = waiting.get(id) ?? { steps: [], fields: {}, closed: null };
  waiting.set(id, one);
  return one;
}

function soon(after_ms = PAUSE_MS): void {
  if (workspace === null) return;
  timer ??= setTimeout(() => void flush(), after_ms);
}

function takeAll(drafts: readonly Draft[]): void {
  for (const draft of drafts) takeOne(draft);
  const closed = drafts.filter((draft) => draft.closed_s !== null);
  closed.sort((one, other) => (other.closed_s ?? 0) - (one.closed_s ?? 0));
  useDrafts.setState({ closed });
}

function takeOne(draft: Draft): void {
  if ((revisions.get(draft.id) ?? -1) >= draft.revision) return;
  if (waiting.has(draft.id)) {
    behind.add(draft.id);
    return;
  }
  revisions.set(draft.id, draft.revision);
  if (draft.closed_s === null) {
    taker?.take(draft);
    dropClosed(draft.id);
  } else {
    if (taker?.has(draft.id)) taker.close(draft.id);
    noteClosed(draft);
  }
}

function noteClosed(draft: Draft): void {
  dropClosed(draft.id);
  useDrafts.setState(({ closed }) => ({ closed: [draft, ...closed] }));
}

/** An empty draft that another tab has closed. */
function dropTaken(id: string): void {
  if (taker?.has(id) && !waiting.has(id)) taker.close(id);
  dropClosed(id);
}

function dropClosed(id: string): void {
  useDrafts.setState(({ closed }) => ({ closed: closed.filter((one) => one.id !== id) }));
}

function listen(): void {
  new Connection(socketUrl("/ws/drafts"), {
    onText: (text) => {
      const event = JSON.parse(text) as DraftEvent;
      if (event.event === "hello") greet(event);
      else if (event.event === "forgotten") dropTaken(event.id);
      else if (event.page !== page) takeOne(event.draft);
      // Already known here, except for the time of closing.
      else if (event.draft.closed_s !== null) noteClosed(event.draft);
    },
    onLost: () => {
      void whyLost();
      return true;
    },
  });
}

function greet(found: Drafts): void {
  if (found.workspace !== workspace) {
    useDrafts.setState({ link: "another" });
    keepUnsent();
    return;
  }
  const isNew = found.instance !== instance;
  instance = found.instance;
  useDrafts.setState({ link: "open" });
  takeAll(found.drafts);
  if (isNew) {
    notify("info", "The studio was restarted. Drawings are unchanged; sessions have ended, and their runs are in Runs.");
  }
  void flush();
}

/** The state of the server after an error; null if it is as before. */
function linkAfter(error: unknown): ServerLink | null {
  const status = error instanceof ApiError ? error.status : 0;
  if (status === 0) return "lost";
  if (status === 403) return "refused";
  return status === MISDIRECTED ? "another" : null;
}

/** Why the connection was lost: no server, another one, or the end of the session. */
async function whyLost(): Promise<void> {
  try {
    await getJson<Drafts>("/api/drafts");
  } catch (error) {
    useDrafts.setState({ link: linkAfter(error) ?? "lost" });
    keepUnsent();
  }
}

function unsentKey(): string {
  return `longfat-studio-unsent-${workspace ?? ""}`;
}

/** Pending changes are stored for a page that is loaded later. */
function keepUnsent(): void {
  if (workspace === null) return;
  try {
    if (waiting.size === 0) localStorage.removeItem(unsentKey());
    else localStorage.setItem(unsentKey(), JSON.stringify(Object.fromEntries(waiting)));
  } catch {
    // No storage, or a full one: the changes are kept in memory.
  }
}

function readUnsent(): Record<string, Waiting> {
  try {
    return (JSON.parse(localStorage.getItem(unsentKey()) ?? "{}") ?? {}) as Record<string, Waiting>;
  } catch {
    return {};
  }
}
