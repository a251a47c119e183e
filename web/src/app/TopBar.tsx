/** The bar at the top: files, undo, the tabs, and the other pages. */

import type { KeyboardEvent } from "react";
import { postJson } from "../api/client";
import type { LogOutRequest } from "../api/types";
import { useThemeVersion } from "../charts/useThemeVersion";
import { flush } from "../documents/drafts";
import { isUnsaved, useCurrentDocument, useDocuments } from "../documents/store";
import { attempt, closeTab, exportAs, save } from "../files/actions";
import { useDialogs } from "../files/dialogs";
import { MenuButton } from "./Menu";
import type { MenuItem } from "./Menu";
import { notify } from "./notices";
import { isDark, switchTheme } from "./theme";
import { useUi } from "./ui";
import type { View } from "./ui";

/** The page that says how to come back. */
const LOGGED_OUT = "/logged-out";

export function confirmLogOut(): void {
  useDialogs.getState().open({
    kind: "confirm",
    title: "Log out?",
    text: "This browser then has no access to the studio until your link is opened again. What is drawn is kept, and machines go on.",
    choices: [
      { label: "Log out", main: true, act: () => void logOut() },
      { label: "Log out all other browsers", act: () => void logOutOthers() },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

async function logOut(): Promise<void> {
  await attempt("This browser could not be logged out.", async () => {
    await flush();
    await postJson("/api/log-out", {});
    window.location.replace(LOGGED_OUT);
  });
}

async function logOutOthers(): Promise<void> {
  await attempt("The other browsers could not be logged out.", async () => {
    const { ended } = await postJson<{ ended: number }>("/api/log-out", { others: true } satisfies LogOutRequest);
    notify("info", ended === 0 ? "No other browser was logged in." : `Logged out: ${ended} ${ended === 1 ? "browser" : "browsers"}.`);
  });
}

export function Tabs() {
  const { documents, currentId, select, openNew } = useDocuments();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = documents.findIndex((one) => one.id === currentId);
    const next = documents[(at + step + documents.length) % documents.length];
    if (step !== 0 && next !== undefined) {
      event.preventDefault();
      select(next.id);
      event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
    }
    if (event.key === "Delete" && currentId !== null) closeTab(currentId);
  };
  return (
    <div className="tabs">
      {/* Not role="tablist": each tab has its own close button. */}
      <div role="group" aria-label="Open networks" className="tab-list" onKeyDown={onKeyDown}>
        {documents.map((one) => {
          const unsaved = isUnsaved(one);
          return (
            <div key={one.id} className={one.id === currentId ? "tab tab-current" : "tab"}>
              <button
                type="button"
                data-tab={one.id}
                aria-current={one.id === currentId}
                tabIndex={one.id === currentId ? 0 : -1}
                title={`${one.path ?? (one.lab === null ? "not saved yet" : `lab ${one.lab}`)}${unsaved ? ", has unsaved changes" : ""}`}
                onClick={() => select(one.id)}
                onAuxClick={(event) => event.button === 1 && closeTab(one.id)}
              >
                <span className="tab-name">{one.name}</span>
                {unsaved && (
                  <span className="tab-unsaved" aria-label="unsaved">
                    ●
                  </span>
                )}
              </button>
              <button type="button" className="tab-close" tabIndex={-1} aria-label={`Close ${one.name}`} onClick={() => closeTab(one.id)}>
                ✕
              </button>
            </div>
          );
        })}
      </div>
      <button type="button" className="bar-button" aria-label="New network" title="New network" onClick={() => void openNew()}>
        +
      </button>
    </div>
  );
}

export function TopBar() {
  const { view, theme, set } = useUi();
  useThemeVersion();
  const current = useCurrentDocument();
  const history = useDocuments((state) => (current === null ? undefined : state.histories[current.id]));
  const { undo, redo } = useDocuments.getState();
  const go = (to: View) => set({ view: view === to ? "studio" : to });
  return (
    <header className="top-bar">
      <span className="brand">
        longfat <span>studio</span>
      </span>
      <MenuButton label="File" items={fileItems(current?.id ?? null, current?.imported != null)}>
        File
      </MenuButton>
      <button
        type="button"
        className="bar-button"
        title="Undo (Ctrl+Z)"
        aria-label="Undo"
        disabled={(history?.undo.length ?? 0) === 0}
        onClick={() => current !== null && undo(current.id)}
      >
        ↶
      </button>
      <button
        type="button"
        className="bar-button"
        title="Redo (Ctrl+Y)"
        aria-label="Redo"
        disabled={(history?.redo.length ?? 0) === 0}
        onClick={() => current !== null && redo(current.id)}
      >
        ↷
      </button>
      <Tabs />
      <nav aria-label="Pages" className="pages">
        <button type="button" className="bar-button" aria-current={view === "labs" ? "page" : undefined} onClick={() => go("labs")}>
          Labs
        </button>
        <button type="button" className="bar-button" aria-current={view === "runs" ? "page" : undefined} onClick={() => go("runs")}>
          Runs
        </button>
        <button
          type="button"
          className="bar-button"
          aria-label={isDark(theme) ? "Switch to light theme" : "Switch to dark theme"}
          title={isDark(theme) ? "Switch to light theme" : "Switch to dark theme"}
          onClick={switchTheme}
        >
          {isDark(theme) ? "☀" : "☾"}
        </button>
        <button
          type="button"
          className="bar-button"
          aria-label="Keyboard shortcuts"
          aria-keyshortcuts="?"
          title="Keyboard shortcuts (?)"
          onClick={() => useDialogs.getState().open({ kind: "keys" })}
        >
          ?
        </button>
        <button type="button" className="bar-button" aria-label="Log out" title="Log out" onClick={confirmLogOut}>
          <svg className="bar-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path d="M6.5 2.5h-4v11h4M6 8h7.5M10.5 4.8 13.7 8l-3.2 3.2" />
          </svg>
        </button>
      </nav>
    </header>
  );
}

function fileItems(id: string | null, isImported: boolean): MenuItem[] {
  const openDialog = useDialogs.getState().open;
  const none = id === null;
  const of = (act: (id: string) => void) => () => id !== null && act(id);
  return [
    { label: "New", act: () => void useDocuments.getState().openNew() },
    { label: "New from a template…", act: () => openDialog({ kind: "template" }) },
    { label: "Open…", keys: "Ctrl+O", act: () => openDialog({ kind: "open" }) },
    { label: "Closed networks…", act: () => openDialog({ kind: "closed" }) },
    { label: "Save", keys: "Ctrl+S", disabled: none, separated: true, act: of(save) },
    { label: "Save as…", keys: "Ctrl+Shift+S", disabled: none, act: of((documentId) => openDialog({ kind: "save-as", documentId })) },
    { label: "Export as YAML", disabled: none, separated: true, act: of((documentId) => exportAs(documentId, ".yaml")) },
    { label: "Export as MiniEdit .mn", disabled: none, act: of((documentId) => exportAs(documentId, ".mn")) },
    { label: "Export as Mininet Python", disabled: none, act: of((documentId) => exportAs(documentId, ".py")) },
    { label: "Import .mn or Mininet Python…", act: () => openDialog({ kind: "open" }) },
    { label: "Import report…", disabled: !isImported, act: of((documentId) => openDialog({ kind: "import-report", documentId })) },
  ];
}
