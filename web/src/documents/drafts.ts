/**
 * Open documents belong to the server: each change goes there, and what other tabs do comes back.
 *
 * What goes there is what a person did, step by step, so that two tabs which change one text
 * both have their steps in its history. Steps that the server has not got yet, since it is
 * away, wait here, and in the browser's store for the time after a reload.
 */

import { create } from "zustand";

import { ApiError, deleteJson, getJson, postJson, putJson, setWorkspace, socketUrl } from "../api/client";
import type { Draft, DraftEvent, Drafts } from "../api/types";
import { tell } from "../app/notices";
import { Connection } from "../live/connection";
import type { History } from "./history";
import type { StudyDocument } from "./model";

export type Step = { set: string; step: boolean } | { undo: true } | { redo: true };

interface Waiting {
  steps: Step[];
  fields: Partial<Record<keyof typeof FIELDS, unknown>>;
  closed: boolean | null;
}

/** Fields of a draft, and what a document calls them. */
const FIELDS = {
  name: "name",
  path: "path",
  lab: "lab",
  saved: "savedText",
  chosen_case: "chosenCase",
  session: "sessionId",
  shown_run: "shownRun",
  imported: "imported",
} as const satisfies Record<string, keyof StudyDocument>;

/** What is known of the server: it answers, it is away, another one is there, or it wants another token. */
export type ServerLink = "open" | "lost" | "another" | "refused";

interface DraftsState {
  link: ServerLink;
  /** The workspace's folder. */
  path: string;
  /** Drafts whose tabs were closed, the last one first. */
  closed: Draft[];
}

export const useDrafts = create<DraftsState>()(() => ({ link: "open", path: "", closed: [] }));

/** What the store of documents gives: how a draft that another tab has changed is taken over. */
export interface Taker {
  take: (draft: Draft) => void;
  close: (id: string) => void;
  /** Whether a document is open here. */
  has: (id: string) => boolean;
}

/** Of no draft: the server answers with all of it. */
const NO_REVISION = Number.MAX_SAFE_INTEGER;

const PAUSE_MS = 250;
const RETRY_MS = 1500;

/** This page among all that are open. */
export const page = typeof crypto === "undefined" ? "page" : crypto.randomUUID();
const waiting = new Map<string, Waiting>();
const revisions = new Map<string, number>();
/** Drafts of which another tab has changed something that is not known here yet. */
const behind = new Set<string>();
/** Drafts that were closed before the server had them, with nothing in them. */
const doomed = new Set<string>();
let workspace: string | null = null;
let instance: string | null = null;
let taker: Taker | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let sending: Promise<void> | null = null;

export function workspaceId(): string {
  return workspace ?? "";
}

/** Ask for the drafts, take them over, and hear of changes from then on. */
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
  window.addEventListener("pagehide", leave);
}

/**
 * A new network, whose name and id the server gives, so that two tabs never give the same.
 *
 * Parameters: `text`, with `{number}` for the number of its name; `first`, only if nothing is open.
 * Returns its id; null where the server is away.
 */
export async function beginNew(text: string, first: boolean): Promise<string | null> {
  try {
    const draft = await postJson<Draft>("/api/drafts", { page, text, first });
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
  // Typing that goes on is one step.
  if ("set" in step && !step.step && last !== undefined && "set" in last) last.set = step.set;
  else one.steps.push(step);
  soon();
}

/** Documents were opened, closed, or have other names, files or sessions. */
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
    for (const name of changed) one.fields[name] = document[FIELDS[name]];
    if (known === undefined && !revisions.has(document.id)) one.steps.push({ set: document.text, step: false });
    if (known === undefined) one.closed = false;
    soon();
  }
  for (const document of old.values()) {
    if (untouched(document)) {
      waiting.delete(document.id);
      forget(document.id);
      continue;
    }
    waitingOf(document.id).closed = true;
    soon();
  }
}

/** Remove a draft in which there is nothing; one that is on its way to the server, when it has come. */
function forget(id: string): void {
  if (!revisions.delete(id)) doomed.add(id);
  else void deleteJson(`/api/drafts/${id}?page=${page}`).catch(() => undefined);
}

/** A closed draft is open again. */
export async function reopen(draft: Draft): Promise<void> {
  waitingOf(draft.id).closed = false;
  taker?.take({ ...draft, closed_s: null });
  forgetClosed(draft.id);
  await flush();
}

/** A draft as a document that the server has not looked at yet. */
export function documentOf(draft: Draft): StudyDocument {
  const { id, name, path, lab, text, imported } = draft;
  const { saved: savedText, chosen_case: chosenCase, session: sessionId, shown_run: shownRun } = draft;
  return { id, name, path, lab, text, savedText, imported, check: null, lastGood: null, chosenCase, sessionId, shownRun };
}

export function historyOf({ undo, redo }: Draft): History {
  return { undo, redo, openSince: null };
}

/** Send what waits, now. */
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
    const one = waiting.get(id);
    if (one === undefined) continue;
    waiting.delete(id);
    const base = behind.has(id) ? NO_REVISION : (revisions.get(id) ?? null);
    behind.delete(id);
    try {
      const body = { page, base, steps: one.steps, fields: one.fields, closed: one.closed };
      const answer = await putJson<{ revision: number; draft: Draft | null }>(`/api/drafts/${id}`, body);
      revisions.set(id, answer.revision);
      if (doomed.delete(id)) {
        forget(id);
        continue;
      }
      if (answer.draft === null) continue;
      // Another tab was at it meanwhile. What was done here since then comes on top of it.
      if (waiting.has(id)) behind.add(id);
      else if (answer.draft.closed_s === null) taker?.take(answer.draft);
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0;
      if (status !== 0 && status !== 403 && status !== 421) {
        tell("error", `What was drawn could not be kept. ${error instanceof Error ? error.message : ""}`);
        continue;
      }
      putBack(id, one);
      useDrafts.setState({ link: status === 0 ? "lost" : status === 403 ? "refused" : "another" });
      return keepUnsent();
    }
  }
  keepUnsent();
}

/** What could not be sent comes before what was done since. */
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
    forgetClosed(draft.id);
  } else {
    if (taker?.has(draft.id)) taker.close(draft.id);
    noteClosed(draft);
  }
}

function noteClosed(draft: Draft): void {
  forgetClosed(draft.id);
  useDrafts.setState(({ closed }) => ({ closed: [draft, ...closed] }));
}

/** There was nothing in it, and another tab has closed it. */
function forgetTaken(id: string): void {
  if (taker?.has(id) && !waiting.has(id)) taker.close(id);
  forgetClosed(id);
}

function forgetClosed(id: string): void {
  useDrafts.setState(({ closed }) => ({ closed: closed.filter((one) => one.id !== id) }));
}

function listen(): void {
  new Connection(socketUrl("/ws/drafts"), {
    onText: (text) => {
      const event = JSON.parse(text) as DraftEvent;
      if (event.event === "hello") greet(event);
      else if (event.event === "forgotten") forgetTaken(event.id);
      else if (event.page !== page) takeOne(event.draft);
      // What is known here already, but for when it was closed.
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
    tell("info", "The studio was started anew. What is drawn is as it was; sessions have ended, and their runs are in Runs.");
  }
  void flush();
}

/** No connection: nobody answers, or somebody who does not know us. */
async function whyLost(): Promise<void> {
  try {
    await getJson<Drafts>("/api/drafts");
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    useDrafts.setState({ link: status === 403 ? "refused" : status === 421 ? "another" : "lost" });
    keepUnsent();
  }
}

/** The page goes: what waits is sent without waiting for an answer, and kept in case there is none. */
function leave(): void {
  if (workspace === null || waiting.size === 0) return;
  keepUnsent();
  void flush();
}

function unsentKey(): string {
  return `longfat-studio-unsent-${workspace ?? ""}`;
}

function keepUnsent(): void {
  try {
    if (waiting.size === 0) localStorage.removeItem(unsentKey());
    else localStorage.setItem(unsentKey(), JSON.stringify(Object.fromEntries(waiting)));
  } catch {
    // A browser without a store, or a full one: the page itself has it.
  }
}

function readUnsent(): Record<string, Waiting> {
  try {
    return (JSON.parse(localStorage.getItem(unsentKey()) ?? "{}") ?? {}) as Record<string, Waiting>;
  } catch {
    return {};
  }
}
