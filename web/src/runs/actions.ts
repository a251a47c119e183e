/** Actions on runs: open as a study, replay, delete, show. */

import { deleteJson } from "../api/client";
import { useDocuments } from "../documents/store";
import { attempt } from "../files/actions";
import { useDialogs } from "../files/dialogs";
import { startRun } from "../live/launch";

export async function openRunAsStudy(path: string): Promise<string | null> {
  let id: string | null = null;
  await attempt(`${path} could not be opened as a study.`, async () => {
    id = await useDocuments.getState().openRun(path);
  });
  return id;
}

/**
 * In a new session: changes made by hand are repeated at the same times.
 *
 * If it cannot be the same, as with another kernel, it runs only after confirmation.
 */
export async function replayRun(path: string): Promise<void> {
  const id = await openRunAsStudy(path);
  if (id === null) return;
  const differences = useDocuments.getState().documents.find((one) => one.id === id)?.imported?.messages ?? [];
  if (differences.length === 0) {
    await startRun(id);
    return;
  }
  useDialogs.getState().open({
    kind: "confirm",
    title: "Replay with differences?",
    text: `${differences.join("; ")}.`,
    choices: [
      { label: "Replay", main: true, act: () => void startRun(id) },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

/** Deletes runs of the workspace, after confirmation. */
export function confirmDelete(paths: readonly string[], then: () => void): void {
  const what = paths.length === 1 ? (paths[0] ?? "") : `${paths.length} runs`;
  const act = async () => {
    const query = paths.map((path) => `runs=${encodeURIComponent(path)}`).join("&");
    await attempt(`${what} could not be deleted.`, () => deleteJson(`/api/runs?${query}`));
    then();
  };
  useDialogs.getState().open({
    kind: "confirm",
    title: `Delete ${what}?`,
    text: `${paths.length === 1 ? "Its folder is" : "Their folders are"} removed from the workspace permanently.`,
    choices: [
      { label: "Delete", main: true, act: () => void act() },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

/** Shows runs with their charts, flows and timeline; several at the same moment, the first one on the canvas. */
export async function watchRuns(paths: readonly string[]): Promise<void> {
  const shownRun = paths.join("\n");
  const shown = useDocuments.getState().documents.find((one) => one.shownRun === shownRun && one.sessionId === null);
  if (shown !== undefined) {
    useDocuments.getState().select(shown.id);
    return;
  }
  const id = await openRunAsStudy(paths[0] ?? "");
  if (id !== null) useDocuments.getState().showRun(id, shownRun);
}
