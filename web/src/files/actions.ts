/** The actions of the File menu. */

import { ApiError, deleteJson, postJson, errorMessage } from "../api/client";
import type { ExportRequest, ExportedDocument } from "../api/types";
import { notify } from "../app/notices";
import { documentOf } from "../documents/change";
import { isUnsaved, useDocuments } from "../documents/store";
import { confirmEnd } from "../live/launch";
import { useLive } from "../live/store";
import { useDialogs } from "./dialogs";

/** Runs an action, and reports a failure. */
export async function attempt(what: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    notify("error", `${what} ${withPlace(error)}`);
    return false;
  }
}

export function openFile(path: string): Promise<boolean> {
  return attempt(`${path} could not be opened.`, () => useDocuments.getState().openFile(path));
}

/** Files from the user's disk: chosen, or dropped onto the page. */
export async function openFromDisk(files: Iterable<File>): Promise<void> {
  for (const file of files) {
    await attempt(`${file.name} could not be opened.`, async () => {
      if (!/\.(ya?ml|mn|py)$/i.test(file.name)) {
        throw new Error("The file must be a study (.yaml), a MiniEdit file (.mn) or a Mininet script (.py).");
      }
      await useDocuments.getState().openText(file.name, await file.text());
    });
  }
}

/** Saves to its file; opens "Save as" if it has none. */
export function save(id: string, then?: () => void): void {
  const document = documentOf(id);
  if (document === null) return;
  if (document.path === null) useDialogs.getState().open({ kind: "save-as", documentId: id, ...(then === undefined ? {} : { then }) });
  else void saveTo(id, document.path, then === undefined ? {} : { then });
}

export async function saveTo(id: string, path: string, { force = false, then }: { force?: boolean; then?: () => void } = {}): Promise<boolean> {
  try {
    await useDocuments.getState().save(id, path, { force });
    then?.();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) {
      const again = () => void saveTo(id, path, { force: true, ...(then === undefined ? {} : { then }) });
      useDialogs.getState().open({
        kind: "confirm",
        title: "Overwrite the file?",
        text: error.message,
        choices: [
          { label: "Overwrite", main: true, act: again },
          { label: "Cancel", act: () => undefined },
        ],
      });
    } else {
      notify("error", `${path} could not be saved. ${withPlace(error)}`);
    }
    return false;
  }
}

/** Deletes a file of the workspace, after a question. */
export function confirmDelete(path: string): void {
  const { open } = useDialogs.getState();
  const act = () =>
    void attempt(`${path} could not be deleted.`, () => deleteJson(`/api/document?path=${encodeURIComponent(path)}`)).then(() => open({ kind: "open" }));
  open({
    kind: "confirm",
    title: "Delete the file?",
    text: `${path} is removed from the workspace. If it is open in a tab, its text stays there.`,
    choices: [
      { label: "Delete", main: true, act },
      { label: "Cancel", act: () => open({ kind: "open" }) },
    ],
  });
}

/** Closes a tab; asks first if something would be lost. */
export function closeTab(id: string): void {
  const document = documentOf(id);
  if (document === null) return;
  const close = () => useDocuments.getState().close(id);
  if (!isUnsaved(document)) {
    confirmEnd(id, close);
    return;
  }
  const view = document.sessionId === null ? undefined : useLive.getState().sessions[document.sessionId];
  const runs = view !== undefined && view.link !== "ended";
  useDialogs.getState().open({
    kind: "confirm",
    title: `Save ${document.name} before it is closed?`,
    text: `It has unsaved changes; after closing, it can be reopened under File, Closed networks.${runs ? " Its session ends, with its machine and terminals; its runs are kept in Runs." : ""}`,
    choices: [
      { label: "Save", main: true, act: () => save(id, close) },
      { label: "Close without saving", act: close },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

/** Exports as a download. */
export function exportAs(id: string, suffix: ".yaml" | ".mn" | ".py"): void {
  const document = documentOf(id);
  if (document === null) return;
  const { name, text } = document;
  void attempt(`${name}${suffix} could not be exported.`, async () => {
    if (suffix === ".yaml") {
      download(`${name}.yaml`, text);
      return;
    }
    const made = await postJson<ExportedDocument>("/api/export", { name, text, suffix } satisfies ExportRequest);
    download(`${name}${suffix}`, made.text);
    for (const warning of made.warnings) notify("warning", warning);
  });
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has begun by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function withPlace(error: unknown): string {
  const problem = error instanceof ApiError ? error.problem : null;
  if (problem === null || problem.line === null) return errorMessage(error);
  return `Line ${problem.line}: ${problem.message}`;
}
