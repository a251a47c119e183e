/**
 * The packetdrill script that is open, its runs, and the scripts of the workspace.
 *
 * Edits are saved automatically: a script is a file, without any other state.
 */

import { create } from "zustand";

import { ApiError, getJson, postJson, putJson, errorMessage } from "../api/client";
import { retryWhileQueued } from "../api/queue";
import type { PacketdrillOverview, PacketdrillReport, PacketdrillRequest, PacketdrillScript, Problem } from "../api/types";

const SAVE_AFTER_MS = 400;

export interface OpenScript {
  path: string;
  text: string;
  /** The last known text of the file. */
  saved: string;
  /** The version of the file with that text. */
  version: string;
  /** Why it is not saved; a conflict is a change of the file by another program or page. */
  failure: { message: string; conflict: boolean } | null;
  problems: readonly Problem[];
}

export interface Running {
  path: string;
  /** What it is waiting for, if others use the machines. */
  waits: string | null;
  cancel: () => void;
}

type Choices = Required<Pick<PacketdrillRequest, "kernel" | "ip_version" | "root">>;

interface Scripts extends Choices {
  overview: PacketdrillOverview | null;
  failure: string | null;
  script: OpenScript | null;
  running: Running | null;
  /** The last report of each script, with the text that was run. */
  reports: Record<string, { report: PacketdrillReport; text: string }>;
  list: () => Promise<void>;
  open: (path: string) => Promise<void>;
  create: (path: string, text: string) => Promise<void>;
  setText: (text: string) => void;
  save: (options?: { force?: boolean }) => Promise<void>;
  run: () => Promise<void>;
  choose: (choices: Partial<Choices>) => void;
}

let timer: ReturnType<typeof setTimeout> | undefined;
/** The save that was sent and has no answer yet. */
let saving: Promise<void> | null = null;

export const usePacketdrill = create<Scripts>()((set, get) => {
  const change = (path: string, next: Partial<OpenScript>) =>
    set(({ script }) => (script?.path === path ? { script: { ...script, ...next } } : {}));

  const check = async (path: string, text: string) => {
    const problems = await postJson<Problem[]>("/api/packetdrill/check", { path, text });
    if (get().script?.text === text) change(path, { problems });
  };

  return {
    overview: null,
    failure: null,
    script: null,
    running: null,
    reports: {},
    kernel: null,
    ip_version: null,
    root: null,

    async list() {
      try {
        set({ overview: await getJson<PacketdrillOverview>("/api/packetdrill"), failure: null });
      } catch (error) {
        set({ failure: errorMessage(error) });
      }
    },

    async open(path) {
      await get().save();
      const { text, version } = await getJson<PacketdrillScript>(`/api/packetdrill/script?path=${encodeURIComponent(path)}`);
      set({ script: { path, text, saved: text, version, failure: null, problems: [] }, root: null });
      await check(path, text);
    },

    async create(path, text) {
      await putJson("/api/packetdrill/script", { path, text });
      await get().list();
      await get().open(path);
    },

    setText(text) {
      const { script, save } = get();
      if (script === null || script.text === text) return;
      change(script.path, { text });
      clearTimeout(timer);
      timer = setTimeout(() => void save(), SAVE_AFTER_MS);
    },

    async save({ force = false } = {}) {
      clearTimeout(timer);
      // A save is based on the one before.
      await saving;
      const { script } = get();
      if (script === null || (script.text === script.saved && !force)) return;
      const { path, text, version } = script;
      const sent = putJson<{ version: string }>("/api/packetdrill/script", { path, text, version, force });
      saving = sent.then(
        (saved) => change(path, { saved: text, version: saved.version, failure: null }),
        () => undefined,
      );
      try {
        await sent;
        await saving;
        await check(path, text);
      } catch (error) {
        change(path, { failure: { message: errorMessage(error), conflict: error instanceof ApiError && error.status === 409 } });
      }
    },

    async run() {
      const { script, running, kernel, ip_version, root, save } = get();
      if (script === null || running !== null) return;
      const { path, text } = script;
      const abort = new AbortController();
      set({ running: { path, waits: null, cancel: () => abort.abort() } });
      try {
        await save();
        const request: PacketdrillRequest = { path, text, root, kernel, ip_version, seed: 1 };
        const report = await retryWhileQueued(
          () => postJson<PacketdrillReport>("/api/packetdrill/run", request, { signal: abort.signal }),
          (waits) => set((state) => (state.running === null ? {} : { running: { ...state.running, waits } })),
          () => !abort.signal.aborted,
        );
        set(({ reports }) => ({ reports: { ...reports, [path]: { report, text } }, failure: null }));
      } catch (error) {
        if (!abort.signal.aborted) set({ failure: errorMessage(error) });
      } finally {
        set({ running: null });
      }
    },

    choose: (choices) => set(choices),
  };
});
