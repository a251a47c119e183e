/** Exercises of a lab: input is sent to the server as it is typed, and synchronised with other tabs. */

import { create } from "zustand";

import { deleteJson, getJson, postJson, putJson, errorMessage } from "../api/client";
import type { ExerciseCheck, ExerciseEvent, Exercises } from "../api/types";
import { notify } from "../app/notices";
import { page } from "../documents/drafts";

interface ExercisesState {
  labs: Record<string, Exercises>;
  /** @throws ApiError if the lab has none, or the server does not respond. */
  load: (lab: string) => Promise<void>;
  /** Reloads everything after a lost connection. */
  reload: () => void;
  hear: (event: ExerciseEvent) => void;
  setPart: (lab: string, file: string, text: string) => void;
  setAnswer: (lab: string, question: string, text: string) => void;
  /** @throws ApiError if it cannot begin; checks all exercises if none is named. */
  check: (lab: string, names: string[]) => Promise<void>;
  cancel: (lab: string) => Promise<void>;
  hint: (lab: string, name: string) => Promise<void>;
}

const PAUSE_MS = 500;

/** Input that was not sent yet, by lab and file or question. */
const waiting = new Map<string, () => Promise<void>>();
let timer: ReturnType<typeof setTimeout> | undefined;

export const useExercises = create<ExercisesState>()((set, get) => {
  function change(lab: string, with_: (now: Exercises) => Exercises): void {
    const now = get().labs[lab];
    if (now !== undefined) set(({ labs }) => ({ labs: { ...labs, [lab]: with_(now) } }));
  }

  function soon(lab: string, key: string, path: string, body: object): void {
    waiting.set(`${lab} ${key}`, async () => {
      try {
        const { digests } = await putJson<{ digests: Record<string, string> }>(at(lab, path), { page, ...body });
        change(lab, (now) => ({ ...now, digests }));
      } catch (error) {
        notify("error", `Your input was not saved: ${errorMessage(error)}`);
      }
    });
    clearTimeout(timer);
    timer = setTimeout(() => void flush(), PAUSE_MS);
  }

  return {
    labs: {},

    load: async (lab) => {
      const found = await getJson<Exercises>(at(lab, "exercises"));
      // Input that is being sent is newer.
      if (waiting.size === 0) set(({ labs }) => ({ labs: { ...labs, [lab]: found } }));
    },

    reload: () => {
      for (const lab of Object.keys(get().labs)) void get().load(lab).catch(() => undefined);
    },

    hear: (event) => {
      if (event.event === "check") change(event.lab, (now) => ({ ...now, check: event.check }));
      else if (event.page !== page) change(event.lab, (now) => ({ ...(event.event === "part" ? withPart(now, event.file, event.text) : withAnswer(now, event.question, event.text)), digests: event.digests }));
    },

    setPart: (lab, file, text) => {
      change(lab, (now) => withPart(now, file, text));
      soon(lab, `part ${file}`, "part", { file, text });
    },

    setAnswer: (lab, question, text) => {
      change(lab, (now) => withAnswer(now, question, text));
      soon(lab, `answer ${question}`, "answer", { question, text });
    },

    check: async (lab, names) => {
      await flush();
      const check = await postJson<ExerciseCheck>(at(lab, "check"), { exercises: names });
      // The socket may have sent a newer state already.
      change(lab, (now) => (isOver(now.check) ? { ...now, check } : now));
    },

    cancel: (lab) => deleteJson(at(lab, "check")),

    hint: (lab, name) => postJson(at(lab, "hint"), { exercise: name }),
  };
});

/** Whether nothing is being checked. */
export function isOver(check: ExerciseCheck | null): boolean {
  return check === null || (check.state !== "waiting" && check.state !== "running");
}

/** The answer to a question; empty if there is none. */
export function answerOf(exercises: Exercises, question: string): string {
  const answers = exercises.parts.flatMap((part) => part.answers);
  return answers.find(({ name }) => name === question)?.text ?? "";
}

/** The download URL of the submission. */
export function submissionUrl(lab: string): string {
  return at(lab, "submission");
}

export function withPart(now: Exercises, file: string, text: string): Exercises {
  const files = (all: Exercises["parts"][number]["files"]) =>
    all.map((one) => (one.file === file ? { ...one, text: one.text === null ? null : text, size_bytes: text.length, problem: "" } : one));
  return { ...now, parts: now.parts.map((part) => ({ ...part, files: files(part.files) })) };
}

export function withAnswer(now: Exercises, question: string, text: string): Exercises {
  const answers = (all: Exercises["parts"][number]["answers"]) => all.map((one) => (one.name === question ? { ...one, text } : one));
  return { ...now, parts: now.parts.map((part) => ({ ...part, answers: answers(part.answers) })) };
}

/** Sends pending input now. */
async function flush(): Promise<void> {
  clearTimeout(timer);
  const all = [...waiting.values()];
  waiting.clear();
  await Promise.all(all.map((send) => send()));
}

if (typeof window !== "undefined") window.addEventListener("pagehide", () => void flush());

function at(lab: string, path: string): string {
  return `/api/labs/${encodeURIComponent(lab)}/${path}`;
}
