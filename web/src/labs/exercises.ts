/** Exercises of a lab: input is sent to the server as it is typed, and synchronised with other tabs. */

import { create } from "zustand";

import { ApiError, deleteJson, getJson, postJson, putJson, errorMessage } from "../api/client";
import type { AnswerRequest, CheckRequest, ExerciseCheck, ExerciseEvent, Exercises, HintRequest, PartRequest, SavedInput } from "../api/types";
import { notify } from "../app/notices";
import { page } from "../documents/drafts";

/** A file of a part, or an answer. */
export type InputKind = "part" | "answer";

/** What was typed and is not saved. */
interface Input {
  lab: string;
  kind: InputKind;
  /** The file, or the question. */
  name: string;
  text: string;
}

/** Input that was not saved, because another program or page has saved something else. */
export interface InputConflict {
  input: Input;
  message: string;
}

interface ExercisesState {
  labs: Record<string, Exercises>;
  /** By `keyOf`. */
  conflicts: Record<string, InputConflict>;
  /** When the next check of a question is possible, in milliseconds since 1970; by lab and exercise. */
  nextChecks: Record<string, Record<string, number>>;
  /** @throws ApiError if the lab has none, or the server does not respond. */
  load: (lab: string) => Promise<void>;
  /** Reloads everything after a lost connection. */
  reload: () => void;
  hear: (event: ExerciseEvent) => void;
  setPart: (lab: string, file: string, text: string) => void;
  setAnswer: (lab: string, question: string, text: string) => void;
  /** Ends a conflict: saves the input over what is there, or shows what is there instead. */
  resolve: (conflict: InputConflict, choice: "overwrite" | "discard") => Promise<void>;
  /** @throws ApiError if it cannot begin; checks all exercises if none is named. */
  check: (lab: string, names: string[]) => Promise<void>;
  cancel: (lab: string) => Promise<void>;
  hint: (lab: string, name: string) => Promise<void>;
}

const PAUSE_MS = 500;

/** Input that was not sent yet. */
const waiting = new Map<string, Input>();
/** Input that was sent and has no answer yet: the next save is based on it. */
const sending = new Map<string, Promise<void>>();
let timer: ReturnType<typeof setTimeout> | undefined;

export const useExercises = create<ExercisesState>()((set, get) => {
  function change(lab: string, with_: (now: Exercises) => Exercises): void {
    const now = get().labs[lab];
    if (now !== undefined) set(({ labs }) => ({ labs: { ...labs, [lab]: with_(now) } }));
  }

  function take(lab: string, check: ExerciseCheck): void {
    change(lab, (now) => ({ ...now, check, counts: check.counts }));
    noteCounts(lab, check.counts);
  }

  function noteCounts(lab: string, counts: Exercises["counts"]): void {
    const now = Date.now();
    const next = Object.fromEntries(Object.entries(counts).map(([name, { wait_s }]) => [name, now + 1000 * wait_s]));
    set(({ nextChecks }) => ({ nextChecks: { ...nextChecks, [lab]: next } }));
  }

  function setConflict(input: Input, message: string | null): void {
    const key = keyOf(input.lab, input.kind, input.name);
    const others = Object.entries(get().conflicts).filter(([other]) => other !== key);
    set({ conflicts: Object.fromEntries(message === null ? others : [...others, [key, { input, message }]]) });
  }

  async function put(input: Input, force: boolean): Promise<void> {
    const { lab, kind, name, text } = input;
    const exercises = get().labs[lab];
    const version = exercises === undefined ? null : versionOf(exercises, kind, name);
    const what = kind === "part" ? { file: name } : { question: name };
    try {
      const saved = await putJson<SavedInput>(at(lab, kind), { page, ...what, text, version, force } satisfies PartRequest | AnswerRequest);
      change(lab, (now) => ({ ...withVersion(now, kind, name, saved.version), digests: saved.digests }));
      setConflict(input, null);
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) setConflict(input, error.message);
      else notify("error", `Your input was not saved: ${errorMessage(error)}`);
    }
  }

  function send(input: Input, force = false): Promise<void> {
    const key = keyOf(input.lab, input.kind, input.name);
    const before = sending.get(key);
    // At once if nothing is on its way: the page may be about to be unloaded.
    const sent = before === undefined ? put(input, force) : before.then(() => put(input, force));
    sending.set(key, sent);
    return sent.finally(() => {
      if (sending.get(key) === sent) sending.delete(key);
    });
  }

  function soon(input: Input): void {
    waiting.set(keyOf(input.lab, input.kind, input.name), input);
    clearTimeout(timer);
    timer = setTimeout(() => void flush(), PAUSE_MS);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    const all = [...waiting.values()];
    waiting.clear();
    for (const input of all) void send(input);
    await Promise.all(sending.values());
  }

  if (typeof window !== "undefined") window.addEventListener("pagehide", () => void flush());

  return {
    labs: {},
    conflicts: {},
    nextChecks: {},

    load: async (lab) => {
      const found = await getJson<Exercises>(at(lab, "exercises"));
      noteCounts(lab, found.counts);
      // Input that is being sent is newer.
      if (waiting.size > 0 || sending.size > 0) return;
      const before = get().labs[lab];
      const kept = Object.values(get().conflicts).filter(({ input }) => input.lab === lab);
      const now = kept.reduce((all, { input }) => withInput(all, input, before === undefined ? null : versionOf(before, input.kind, input.name)), found);
      set(({ labs }) => ({ labs: { ...labs, [lab]: now } }));
    },

    reload: () => {
      for (const lab of Object.keys(get().labs)) void get().load(lab).catch(() => undefined);
    },

    hear: (event) => {
      if (event.event === "check") take(event.lab, event.check);
      else if (event.page !== page) {
        const { lab, event: kind, text, version, digests } = event;
        const name = event.event === "part" ? event.file : event.question;
        const key = keyOf(lab, kind, name);
        // What was typed here stays; saving it is a conflict then.
        const isOpen = waiting.has(key) || sending.has(key) || key in get().conflicts;
        change(lab, (now) => ({ ...(isOpen ? now : withInput(now, { lab, kind, name, text }, version)), digests }));
      }
    },

    setPart: (lab, file, text) => {
      change(lab, (now) => withPart(now, file, text));
      soon({ lab, kind: "part", name: file, text });
    },

    setAnswer: (lab, question, text) => {
      change(lab, (now) => withAnswer(now, question, text));
      soon({ lab, kind: "answer", name: question, text });
    },

    resolve: async ({ input }, choice) => {
      const key = keyOf(input.lab, input.kind, input.name);
      if (choice === "overwrite") {
        const last = waiting.get(key) ?? input;
        waiting.delete(key);
        await send(last, true);
        return;
      }
      waiting.delete(key);
      setConflict(input, null);
      await get().load(input.lab);
    },

    check: async (lab, names) => {
      await flush();
      const check = await postJson<ExerciseCheck>(at(lab, "check"), { exercises: names } satisfies CheckRequest);
      // The socket may have sent a newer state of it already, such as its end.
      if (check.number !== get().labs[lab]?.check?.number) take(lab, check);
    },

    cancel: (lab) => deleteJson(at(lab, "check")),

    hint: (lab, name) => postJson(at(lab, "hint"), { exercise: name } satisfies HintRequest),
  };
});

/** Identifies an input in `conflicts`. */
export function keyOf(lab: string, kind: InputKind, name: string): string {
  return `${lab} ${kind} ${name}`;
}

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

export function withInput(now: Exercises, { kind, name, text }: Input, version: string | null): Exercises {
  return withVersion(kind === "part" ? withPart(now, name, text) : withAnswer(now, name, text), kind, name, version);
}

export function withVersion(now: Exercises, kind: InputKind, name: string, version: string | null): Exercises {
  const parts = now.parts.map((part) =>
    kind === "part"
      ? { ...part, files: part.files.map((one) => (one.file === name ? { ...one, version } : one)) }
      : { ...part, answers: part.answers.map((one) => (one.name === name ? { ...one, version } : one)) },
  );
  return { ...now, parts };
}

export function versionOf(now: Exercises, kind: InputKind, name: string): string | null {
  const input =
    kind === "part"
      ? now.parts.flatMap((part) => part.files).find((one) => one.file === name)
      : now.parts.flatMap((part) => part.answers).find((one) => one.name === name);
  return input?.version ?? null;
}

function at(lab: string, path: string): string {
  return `/api/labs/${encodeURIComponent(lab)}/${path}`;
}
