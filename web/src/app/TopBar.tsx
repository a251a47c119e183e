/** The bar at the top: files, undo, the tabs, and the other pages. */

import { useThemeVersion } from "../charts/useThemeVersion";
import { useDialogs } from "../files/dialogs";
import { exportAs, save } from "../files/actions";
import { useCurrentDocument, useDocuments } from "../documents/store";
import { confirmLogOut } from "./logOut";
import type { MenuItem } from "./Menu";
import { MenuButton } from "./Menu";
import { Tabs } from "./Tabs";
import { isDark, switchTheme } from "./theme";
import type { View } from "./ui";
import { useUi } from "./ui";

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
        <button type="button" className="bar-button" aria-current={view === "packetdrill" ? "page" : undefined} onClick={() => go("packetdrill")}>
          packetdrill
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
