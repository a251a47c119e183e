/** The open documents. Everything on the page reads them here, and changes texts through here. */

import { create } from "zustand";
import { errorMessage, getJson, postJson, putJson } from "../api/client";
import { retryWhileQueued } from "../api/queue";
import type { CheckResult, DocumentRequest, Draft, OpenedDocument, SavedDocument, SaveDocumentRequest, StudyRequest, TemplateRequest } from "../api/types";
import { useNotices } from "../app/notices";
import { beginNew, documentOf, historyOf, noteDocuments, noteStep, workspaceId } from "./drafts";
import { isNewStudyText, newStudyText } from "./edits/study";
import { NO_HISTORY, pushStep, stepBack, stepForward } from "./history";
import type { History } from "./history";
import type { DocumentsState, StudyDocument } from "./model";
import { drawingOf } from "./useDrawing";

const REST_MS = 150;

/** The server reads the files that a study names beside its own file, or in its lab. */
type CheckedDocument = Pick<StudyDocument, "id" | "name" | "path" | "lab">;

export interface Checker {
  /** The text of a document has changed: earlier checks of it are dropped. */
  check: (document: CheckedDocument, text: string) => void;
  cancel: (id: string) => void;
}

export function makeChecker(
  onResult: (id: string, text: string, result: CheckResult) => void,
  onError: (error: unknown) => void,
): Checker {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const cancel = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  return {
    cancel,
    check({ id, name, path, lab }, text) {
      cancel(id);
      const send = () => {
        postJson<CheckResult>("/api/check", { text, name, path, lab } satisfies DocumentRequest).then((result) => onResult(id, text, result), onError);
      };
      timers.set(id, setTimeout(send, REST_MS));
    },
  };
}

interface Store extends DocumentsState {
  histories: Record<string, History>;
  /** Counts documents opened or chosen, so that the page can react. */
  shown: number;
  /** A run of the workspace as a study; resolves to the document's id. */
  openRun: (path: string) => Promise<string>;
  /** Applies a draft from the server: opened, or changed by another tab. */
  take: (draft: Draft) => void;
  /** Shows the charts of a run of the workspace with it. */
  showRun: (id: string, path: string | null) => void;
  /** A text that the browser read itself, from disk or from a drop. */
  openText: (name: string, text: string) => Promise<void>;
  /** A study of a template with these parameters, as typed; throws ApiError if one is invalid. */
  openTemplate: (template: string, values: Record<string, string>) => Promise<void>;
  /** Throws ApiError, with status 409 if the file has changed on disk meanwhile. */
  save: (id: string, path: string, options?: { force?: boolean }) => Promise<void>;
}

export const useDocuments = create<Store>()((set, get) => {
  const checker = makeChecker(
    (id, text, result) => update(id, (document) => (document.text === text ? checked(document, result) : document)),
    (error) => useNotices.getState().notify("error", `The network could not be checked. ${errorMessage(error)}`),
  );

  function update(id: string, change: (document: StudyDocument) => StudyDocument): void {
    set((state) => ({ documents: state.documents.map((one) => (one.id === id ? change(one) : one)) }));
  }

  function show(id: string): void {
    set((state) => ({ currentId: id, shown: state.shown + 1 }));
  }

  function add(opened: OpenedDocument, unsaved: boolean): string {
    const { path, version, lab, text, warnings } = opened;
    const name = nameOf(path ?? opened.name);
    const document: StudyDocument = {
      id: crypto.randomUUID(),
      name,
      path,
      lab,
      text,
      savedText: unsaved ? "" : text,
      version,
      imported: warnings.length === 0 ? null : { source: opened.name, at_s: Math.round(Date.now() / 1000), messages: warnings },
      check: null,
      lastGood: null,
      chosenCase: null,
      sessionId: null,
      shownRun: null,
    };
    // An untouched new document is replaced.
    const stay = get().documents.filter((one) => !(one.id === get().currentId && isUntouched(one)));
    set({ documents: [...(isUntouched(document) ? get().documents : stay), document] });
    show(document.id);
    checker.check(document, text);
    if (warnings.length > 0) notifyImport(warnings);
    return document.id;
  }

  /** Sets a text without making a step of undo. */
  function place(id: string, text: string): void {
    update(id, (document) => ({ ...document, text }));
    const document = get().documents.find((one) => one.id === id);
    if (document) checker.check(document, text);
  }

  function goBy(id: string, step: typeof stepBack, noted: { undo: true } | { redo: true }): void {
    const document = get().documents.find((one) => one.id === id);
    const gone = document && step(get().histories[id] ?? NO_HISTORY, document.text);
    if (!gone) return;
    noteStep(id, noted);
    set((state) => ({ histories: { ...state.histories, [id]: gone.history } }));
    place(id, gone.text);
  }

  return {
    documents: [],
    currentId: null,
    histories: {},
    shown: 0,
    select: show,
    close(id) {
      checker.cancel(id);
      set((state) => {
        const index = state.documents.findIndex((one) => one.id === id);
        const documents = state.documents.filter((one) => one.id !== id);
        const neighbour = documents[Math.min(index, documents.length - 1)]?.id ?? null;
        return { documents, currentId: state.currentId === id ? neighbour : state.currentId };
      });
    },
    async openFile(path) {
      const open = get().documents.find((one) => one.path === path);
      if (open) show(open.id);
      else add(await inTurn(() => getJson<OpenedDocument>(`/api/document?path=${encodeURIComponent(path)}`)), !isStudyName(path));
    },
    async openLab(name) {
      const open = get().documents.find((one) => one.lab === name && (one.path === null || one.path === `${name}/study.yaml`));
      if (open) show(open.id);
      else add(await getJson<OpenedDocument>(`/api/document?lab=${encodeURIComponent(name)}`), false);
    },
    async openRun(path) {
      return add(await getJson<OpenedDocument>(`/api/run-study?run=${encodeURIComponent(path)}`), true);
    },
    async openText(name, text) {
      add(await inTurn(() => postJson<OpenedDocument>("/api/import", { name, text } satisfies StudyRequest)), true);
    },
    async openTemplate(template, values) {
      add(await postJson<OpenedDocument>("/api/templates", { template, values } satisfies TemplateRequest), true);
    },
    async openNew({ first = false } = {}) {
      const id = await beginNew(newStudyText("Network {number}"), first);
      if (id !== null) {
        // What was opened meanwhile, another page or a file, stays in front.
        if (!first) show(id);
        else if (get().currentId === null) set({ currentId: id });
        return;
      }
      // The server is unreachable: this document is sent with its first change.
      const name = freeTitle(get().documents);
      const text = newStudyText(name.replace("-", " ").replace(/^n/, "N"));
      add({ name, path: null, version: null, lab: null, text, warnings: [] }, false);
    },
    setText(id, text, { joins = false } = {}) {
      const document = get().documents.find((one) => one.id === id);
      if (document === undefined || document.text === text) return;
      const before = get().histories[id] ?? NO_HISTORY;
      const history = pushStep(before, document.text, joins, Date.now());
      noteStep(id, { set: text, step: history.undo !== before.undo });
      set((state) => ({ histories: { ...state.histories, [id]: history } }));
      place(id, text);
    },
    undo: (id) => goBy(id, stepBack, { undo: true }),
    redo: (id) => goBy(id, stepForward, { redo: true }),
    take(draft) {
      taking = true;
      const { documents, histories } = get();
      const known = documents.find((one) => one.id === draft.id);
      const { check, lastGood } = known?.text === draft.text ? known : { check: null, lastGood: known?.lastGood ?? null };
      const document = { ...documentOf(draft), check, lastGood };
      set({
        documents: known === undefined ? [...documents, document] : documents.map((one) => (one === known ? document : one)),
        histories: { ...histories, [draft.id]: historyOf(draft) },
      });
      taking = false;
      if (check === null) checker.check(document, document.text);
    },
    showRun: (id, shownRun) => update(id, (document) => ({ ...document, shownRun })),
    chooseCase: (id, chosenCase) => update(id, (document) => ({ ...document, chosenCase })),
    setSession: (id, sessionId) => update(id, (document) => ({ ...document, sessionId })),
    async save(id, path, { force = false } = {}) {
      const document = get().documents.find((one) => one.id === id);
      if (document === undefined) return;
      const { text } = document;
      const base = document.path === path ? document.version : null;
      const { version, warnings } = await putJson<SavedDocument>("/api/document", { path, text, version: base, force } satisfies SaveDocumentRequest);
      for (const warning of warnings) useNotices.getState().notify("warning", warning);
      update(id, (now) => ({ ...now, path, name: nameOf(path), savedText: text, version }));
      const saved = get().documents.find((one) => one.id === id);
      // Relative file names now refer to other files.
      if (saved && path !== document.path) checker.check(saved, saved.text);
      useNotices.getState().notify("info", `Saved ${path}.`);
    },
  };
});

/** A Mininet script is run in a machine, for which requests are queued in a class. */
function inTurn<T>(request: () => Promise<T>): Promise<T> {
  let notified = "";
  return retryWhileQueued(request, (words) => {
    if (words !== notified) useNotices.getState().notify("info", words);
    notified = words;
  });
}

/** Changes by another tab are not sent back. */
let taking = false;

useDocuments.subscribe((state, old) => {
  if (state.currentId !== old.currentId) keepCurrent(state.currentId);
  if (taking || state.documents === old.documents) return;
  noteDocuments(state.documents, old.documents, isUntouched);
});

/** A tab was closed by another page. */
export function closeTaken(id: string): void {
  taking = true;
  useDocuments.getState().close(id);
  taking = false;
}

// The current tab is stored per page, and kept over a reload.
function currentKey(): string {
  return `longfat-studio-current-${workspaceId()}`;
}

function keepCurrent(id: string | null): void {
  try {
    if (id !== null) sessionStorage.setItem(currentKey(), id);
  } catch {
    // Without storage the first tab is in front after a reload.
  }
}

/** Selects the tab that was current before a reload, else the last one. */
export function showLast(): void {
  const { documents, currentId } = useDocuments.getState();
  if (currentId !== null || documents.length === 0) return;
  let last: string | null = null;
  try {
    last = sessionStorage.getItem(currentKey());
  } catch {
    // As above.
  }
  const found = documents.find((one) => one.id === last) ?? documents.at(-1);
  useDocuments.setState({ currentId: found?.id ?? null });
}

function notifyImport(warnings: readonly string[]): void {
  const { notify } = useNotices.getState();
  const [first = "", ...more] = warnings;
  notify("warning", more.length === 0 ? first : `${first}; and ${more.length} more: File, Import report`);
}

export function useCurrentDocument(): StudyDocument | null {
  return useDocuments((state) => state.documents.find((one) => one.id === state.currentId) ?? null);
}

export function isUnsaved(document: StudyDocument): boolean {
  return document.text !== document.savedText;
}

/** Whether a document is new and unchanged. */
export function isUntouched({ path, lab, text, savedText }: Pick<StudyDocument, "path" | "lab" | "text" | "savedText">): boolean {
  return path === null && lab === null && text === savedText && isNewStudyText(text);
}

/** A study is named after its file, or after the folder of a `study.yaml`. */
export function nameOf(path: string): string {
  const parts = path.split("/");
  const name = (parts.at(-1) ?? path).replace(/\.(ya?ml|mn|py)$/, "");
  return name === "study" ? (parts.at(-2) ?? name) : name;
}

export function isStudyName(path: string): boolean {
  return /\.ya?ml$/.test(path);
}

function checked(document: StudyDocument, check: CheckResult): StudyDocument {
  // The text's own cases: the server names the single case of a study without cases `default`.
  const names = drawingOf(document).cases.map((one) => one.name);
  const chosen = document.chosenCase;
  const stays = check.study === null || (chosen !== null && names.includes(chosen));
  const chosenCase = stays ? chosen : (names[0] ?? null);
  return { ...document, check: withShortFields(check), lastGood: check.study ?? document.lastGood, chosenCase };
}

/** A link's properties are the third item of its list, which is left out of shown field names. */
function withShortFields(check: CheckResult): CheckResult {
  const problems = check.problems.map((one) => ({ ...one, field: one.field.replace(/(\.links\[\d+\])\[2\]/, "$1") }));
  return { ...check, problems };
}

function freeTitle(documents: readonly StudyDocument[]): string {
  const taken = new Set(documents.map((one) => one.name));
  for (let number = 1; ; number++) {
    if (!taken.has(`network-${number}`)) return `network-${number}`;
  }
}
