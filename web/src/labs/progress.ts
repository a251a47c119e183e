/**
 * Progress in each lab: steps are ticked by the exit statuses of their commands, claims
 * by the results of a run. The server stores it, in the workspace.
 */

import { create } from "zustand";
import { deleteJson, errorMessage, putJson, socketUrl } from "../api/client";
import type { AnswerProgress, ClaimRow, ExerciseEvent, LabProgress, ProgressChange, ProgressEvent, ProgressRequest, StepProgress } from "../api/types";
import { notify } from "../app/notices";
import { page } from "../documents/drafts";
import { useDocuments } from "../documents/store";
import { Connection } from "../live/connection";
import { setTypedListener } from "../live/store";
import { useExercises } from "./exercises";
import type { Step } from "./steps";

/** A command that was sent to be typed. */
export interface Expected {
  key: string;
  node: string;
  line: string;
  /** Its number in the step, from 0. */
  index: number;
}

export interface TypedLine {
  node: string;
  line: string;
  status: number;
}

export interface Folded {
  /** The step that has changed; null if the command belongs to none. */
  step: { key: string; progress: StepProgress } | null;
  /** The commands still expected. */
  rest: Expected[];
}

const NONE: StepProgress = { good: [], status: null, done: false };

/**
 * Finds the step of a command that has ended.
 *
 * A command may be part of several steps. It is assigned to the step that was sent to be
 * typed, or else to the first step that contains it and is not done.
 */
export function foldTyped(
  steps: readonly Step[],
  progress: Readonly<Record<string, StepProgress>>,
  expected: readonly Expected[],
  typed: TypedLine,
): Folded {
  const line = typed.line.trim();
  const at = expected.findIndex((one) => one.node === typed.node && one.line === line);
  const rest = at < 0 ? [...expected] : expected.filter((_, index) => index !== at);
  const sent = at < 0 ? undefined : expected[at];
  const having = steps.filter(({ nodes, lines }) => nodes.includes(typed.node) && lines.includes(line));
  const step =
    steps.find(({ key }) => key === sent?.key) ?? having.find(({ key }) => progress[key]?.done !== true) ?? having[0];
  if (step === undefined) return { step: null, rest };
  const now = progress[step.key] ?? NONE;
  const own = `${typed.node} ${sent?.index ?? step.lines.indexOf(line)}`;
  const others = now.good.filter((one) => one !== own);
  const good = typed.status === 0 ? [...others, own] : others;
  const done = good.length === step.nodes.length * step.lines.length;
  return { step: { key: step.key, progress: { good, status: typed.status, done } }, rest };
}

interface ProgressState {
  /** The server has sent the progress of each lab. */
  known: boolean;
  labs: Record<string, LabProgress>;
  /** Subscribes to the server's progress events; further calls do nothing. */
  listen: () => void;
  /** Applies a change, here and on the server. */
  note: (lab: string, change: ProgressChange) => void;
  reset: (lab: string) => Promise<void>;
}

interface Sent {
  lab: string;
  change: ProgressChange;
}

let connection: Connection | null = null;
/** Changes sent to the server and not acknowledged yet. */
let unanswered: readonly Sent[] = [];
/** Numbers the changes: the server may process requests in another order. */
let count = 0;

export const useProgress = create<ProgressState>()((set) => ({
  known: false,
  labs: {},

  listen: () => {
    connection ??= new Connection(socketUrl("/ws/progress"), {
      onText: (text) => {
        const event = JSON.parse(text) as ProgressEvent | ExerciseEvent;
        if (event.event === "part" || event.event === "answer" || event.event === "check") useExercises.getState().hear(event);
        else set(({ labs, known }) => ({ labs: applyEvent(labs, event, unanswered), known: known || event.event === "hello" }));
      },
      onOpen: (again) => again && useExercises.getState().reload(),
    });
  },

  note: (lab, change) => {
    const sent: Sent = { lab, change };
    unanswered = [...unanswered, sent];
    set(({ labs }) => ({ labs: withSent(labs, sent) }));
    putJson<LabProgress>(path(lab), { page, number: ++count, ...change } satisfies ProgressRequest)
      .then(
        ({ changed_s }) => set(({ labs }) => ({ labs: { ...labs, [lab]: { ...(labs[lab] ?? emptyProgress(lab)), changed_s } } })),
        (error: unknown) => notify("warning", `Your progress in ${lab} was not saved: ${errorMessage(error)}`),
      )
      .finally(() => {
        unanswered = unanswered.filter((one) => one !== sent);
      });
  },

  reset: async (lab) => {
    const found = await deleteJson<LabProgress>(`${path(lab)}?page=${page}`);
    set(({ labs }) => ({ labs: { ...labs, [lab]: found } }));
  },
}));

export function emptyProgress(lab: string): LabProgress {
  return { lab, steps: {}, step_count: 0, claims: {}, claim_count: 0, answers: {}, answer_count: 0, exercises: {}, checks: {}, changed_s: 0 };
}

/** The progress after an event of the server, with the changes in `sent` not acknowledged yet. */
export function applyEvent(
  labs: Readonly<Record<string, LabProgress>>,
  event: ProgressEvent,
  sent: readonly Sent[] = [],
): Record<string, LabProgress> {
  if (event.event === "hello") {
    // The whole state: entries not in it were reset meanwhile. It may be older than changes that
    // this page has sent, which are acknowledged on another connection.
    const newer = Object.entries(labs).filter(([lab, now]) => now.changed_s > (event.labs[lab]?.changed_s ?? Infinity));
    return sent.reduce(withSent, { ...event.labs, ...Object.fromEntries(newer) });
  }
  // This page's own changes are applied already, possibly with later ones.
  if (event.page === page) return labs;
  const now = (event.event === "forgotten" ? undefined : labs[event.lab]) ?? emptyProgress(event.lab);
  return { ...labs, [event.lab]: event.event === "forgotten" ? now : withChange(now, event.change) };
}

function withSent(labs: Readonly<Record<string, LabProgress>>, { lab, change }: Sent): Record<string, LabProgress> {
  return { ...labs, [lab]: withChange(labs[lab] ?? emptyProgress(lab), change) };
}

function withChange(now: LabProgress, change: ProgressChange): LabProgress {
  return {
    ...now,
    ...change,
    steps: { ...now.steps, ...change.steps },
    claims: { ...now.claims, ...change.claims },
    answers: { ...now.answers, ...change.answers },
    exercises: { ...now.exercises, ...change.exercises },
  };
}

/** The steps of the displayed texts, by lab, and the commands that were sent and have not ended. */
const known = new Map<string, Step[]>();
const expected = new Map<string, Expected[]>();

/** Registers the steps of a lab's text. */
export function registerSteps(lab: string, steps: Step[]): void {
  if (steps.length > 0) known.set(lab, steps);
}

/** Registers that a step was sent to be typed in a session. */
export function expectStep(session: string, step: Step): void {
  const lines = step.nodes.flatMap((node) => step.lines.map((line, index) => ({ key: step.key, node, line, index })));
  expected.set(session, [...(expected.get(session) ?? []), ...lines].slice(-500));
}

setTypedListener((session, typed) => {
  const lab = useDocuments.getState().documents.find((one) => one.sessionId === session)?.lab ?? null;
  const steps = lab === null ? undefined : known.get(lab);
  if (lab === null || steps === undefined) return;
  const now = useProgress.getState().labs[lab]?.steps ?? {};
  const { step, rest } = foldTyped(steps, now, expected.get(session) ?? [], typed);
  expected.set(session, rest);
  if (step !== null) useProgress.getState().note(lab, { steps: { [step.key]: step.progress }, step_count: steps.length });
});

/** Records the evaluated claims of a job, unless nothing has changed. */
export function noteClaims(lab: string, claims: readonly ClaimRow[]): void {
  const now = useProgress.getState().labs[lab]?.claims ?? {};
  const judged = claims.flatMap(({ text, expression, holds }) => (holds === null ? [] : [[(text || expression).slice(0, 240), holds] as const]));
  const news = judged.filter(([text, holds]) => now[text] !== holds);
  if (news.length > 0) useProgress.getState().note(lab, { claims: Object.fromEntries(news), claim_count: claims.length });
}

export function noteAnswer(lab: string, key: string, answer: AnswerProgress, count: number): void {
  useProgress.getState().note(lab, { answers: { [key]: answer }, answer_count: count });
}

function path(lab: string): string {
  return `/api/labs/${encodeURIComponent(lab)}/progress`;
}
