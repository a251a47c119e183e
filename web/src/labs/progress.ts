/**
 * How far a person has come in each lab: steps ticked by the exit statuses of their lines, claims
 * by what they said of a run. The server keeps it, in the workspace.
 */

import { create } from "zustand";

import { deleteJson, putJson, socketUrl, wordsOf } from "../api/client";
import type { AnswerProgress, ClaimRow, ExerciseEvent, LabProgress, ProgressChange, ProgressEvent, StepProgress } from "../api/types";
import { tell } from "../app/notices";
import { page } from "../documents/drafts";
import { useDocuments } from "../documents/store";
import { Connection } from "../live/connection";
import { hearTyped } from "../live/store";
import { useExercises } from "./exercises";
import { foldTyped, type Expected } from "./ticks";
import type { Step } from "./steps";

interface ProgressState {
  /** The server has said how far each lab is. */
  known: boolean;
  labs: Record<string, LabProgress>;
  /** Hear from the server how far each lab is, and what other tabs do; once is enough for all. */
  listen: () => void;
  /** Add what has changed, here and on the server. */
  note: (lab: string, change: ProgressChange) => void;
  forget: (lab: string) => Promise<void>;
}

interface Sent {
  lab: string;
  change: ProgressChange;
}

let connection: Connection | null = null;
/** What was sent to the server and has no answer yet. */
let unanswered: readonly Sent[] = [];

export const useProgress = create<ProgressState>()((set) => ({
  known: false,
  labs: {},

  listen: () => {
    connection ??= new Connection(socketUrl("/ws/progress"), {
      onText: (text) => {
        const event = JSON.parse(text) as ProgressEvent | ExerciseEvent;
        if (event.event === "part" || event.event === "answer" || event.event === "check") useExercises.getState().hear(event);
        else set(({ labs, known }) => ({ labs: heard(labs, event, unanswered), known: known || event.event === "hello" }));
      },
      onOpen: (again) => again && useExercises.getState().reload(),
    });
  },

  note: (lab, change) => {
    const sent: Sent = { lab, change };
    unanswered = [...unanswered, sent];
    set(({ labs }) => ({ labs: withSent(labs, sent) }));
    putJson<LabProgress>(path(lab), { page, ...change })
      .then(
        ({ changed_s }) => set(({ labs }) => ({ labs: { ...labs, [lab]: { ...(labs[lab] ?? emptyProgress(lab)), changed_s } } })),
        (error: unknown) => tell("warning", `Your progress in ${lab} was not kept: ${wordsOf(error)}`),
      )
      .finally(() => {
        unanswered = unanswered.filter((one) => one !== sent);
      });
  },

  forget: async (lab) => {
    const found = await deleteJson<LabProgress>(`${path(lab)}?page=${page}`);
    set(({ labs }) => ({ labs: { ...labs, [lab]: found } }));
  },
}));

export function emptyProgress(lab: string): LabProgress {
  return { lab, steps: {}, step_count: 0, claims: {}, claim_count: 0, answers: {}, answer_count: 0, exercises: {}, changed_s: 0 };
}

/** What is known after the server has said something, where it has not answered to `sent` yet. */
export function heard(
  labs: Readonly<Record<string, LabProgress>>,
  event: ProgressEvent,
  sent: readonly Sent[] = [],
): Record<string, LabProgress> {
  if (event.event === "hello") {
    // The whole state: what is not in it was forgotten meanwhile. It may have been on its way for
    // a while, and answers to what this page has sent have another way.
    const newer = Object.entries(labs).filter(([lab, now]) => now.changed_s > (event.labs[lab]?.changed_s ?? Infinity));
    return sent.reduce(withSent, { ...event.labs, ...Object.fromEntries(newer) });
  }
  // What this page did it knows already, and more that it has done since.
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

/** The steps of the texts that were shown, by lab, and what was sent to be typed and has not ended. */
const known = new Map<string, Step[]>();
const expected = new Map<string, Expected[]>();

/** Take note of the steps of a lab's text. */
export function knowSteps(lab: string, steps: Step[]): void {
  if (steps.length > 0) known.set(lab, steps);
}

/** Take note that a step was sent to be typed in a session. */
export function expectStep(session: string, step: Step): void {
  const lines = step.nodes.flatMap((node) => step.lines.map((line, index) => ({ key: step.key, node, line, index })));
  expected.set(session, [...(expected.get(session) ?? []), ...lines].slice(-500));
}

hearTyped((session, typed) => {
  const lab = useDocuments.getState().documents.find((one) => one.sessionId === session)?.lab ?? null;
  const steps = lab === null ? undefined : known.get(lab);
  if (lab === null || steps === undefined) return;
  const now = useProgress.getState().labs[lab]?.steps ?? {};
  const { step, rest } = foldTyped(steps, now, expected.get(session) ?? [], typed);
  expected.set(session, rest);
  if (step !== null) useProgress.getState().note(lab, { steps: { [step.key]: step.progress }, step_count: steps.length });
});

/** Take note of the claims of a job, as far as they are judged and nothing else is known yet. */
export function noteClaims(lab: string, claims: readonly ClaimRow[]): void {
  const now = useProgress.getState().labs[lab]?.claims ?? {};
  const judged = claims.flatMap(({ text, expression, holds }) => (holds === null ? [] : [[(text || expression).slice(0, 240), holds] as const]));
  const news = judged.filter(([text, holds]) => now[text] !== holds);
  if (news.length > 0) useProgress.getState().note(lab, { claims: Object.fromEntries(news), claim_count: claims.length });
}

export function noteAnswer(lab: string, key: string, answer: AnswerProgress, count: number): void {
  useProgress.getState().note(lab, { answers: { [key]: answer }, answer_count: count });
}

export function stepOf(progress: LabProgress | undefined, key: string): StepProgress | undefined {
  return progress?.steps[key];
}

function path(lab: string): string {
  return `/api/labs/${encodeURIComponent(lab)}/progress`;
}
