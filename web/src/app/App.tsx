/** The page: toolbar, palette, canvas, panel and dock; or the labs, or the runs. */

import { useEffect, useState } from "react";
import type { DragEvent } from "react";
import { Canvas } from "../canvas/Canvas";
import { Palette } from "../canvas/Palette";
import { isTyping } from "../canvas/keys";
import { useDrafts } from "../documents/drafts";
import { useCurrentDocument, useDocuments } from "../documents/store";
import { Dialogs } from "../files/Dialogs";
import { openFromDisk, save } from "../files/actions";
import { useDialogs } from "../files/dialogs";
import { LabsPage } from "../labs/LabsPage";
import { ClockBar } from "../live/ClockBar";
import { Dock } from "../live/Dock";
import { RunsPage } from "../runs/RunsPage";
import { Timeline } from "../timeline/Timeline";
import { RightPanel } from "./RightPanel";
import { TopBar } from "./TopBar";
import { useNotices } from "./notices";
import { useTheme } from "./theme";
import { NOTHING, useUi } from "./ui";

export function Notices() {
  const { notices, dismiss } = useNotices();
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.number} className={`notice notice-${notice.level}`}>
          <p>{notice.text}</p>
          <button type="button" className="icon-button" aria-label="Dismiss this message" onClick={() => dismiss(notice.number)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}

export function ServerBanner() {
  const link = useDrafts((state) => state.link);
  const path = useDrafts((state) => state.path);
  if (link === "open") return null;
  const start = <code>longfat studio --workspace {path}</code>;
  return (
    <p className="server-banner" role="alert">
      {link === "lost" && (
        <span>
          <strong>The studio does not respond.</strong> What you draw meanwhile is kept in this browser and sent as soon as it
          responds again. If it was stopped, start it: {start}. Its sessions have ended then; their runs are in Runs.
        </span>
      )}
      {link === "refused" && (
        <span>
          <strong>This browser is not logged in any more.</strong> Open your link again: the URL that the studio printed, or in
          a class the link from your teacher. What you have drawn here since is kept in this browser and sent then.
        </span>
      )}
      {link === "another" && (
        <span>
          <strong>This address now serves another workspace, or another program.</strong> This page belongs to {path}. Nothing of it
          is sent there, and it goes on by itself when its own studio responds again: {start}. Do not reload it until then. In a
          class, another student's link may have been opened in this browser: open yours.
        </span>
      )}
    </p>
  );
}

export function App() {
  useTheme();
  usePageKeys();
  useShown();
  const { view, narrow, reading, rightTab, set } = useUi();
  const current = useCurrentDocument();
  const reads = reading && current?.lab != null && rightTab === "lab";
  const [dropping, setDropping] = useState(false);
  const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");
  return (
    <div
      className="app"
      onDragOver={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={(event) => {
        if (event.currentTarget === event.target || event.relatedTarget === null) setDropping(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setDropping(false);
        void openFromDisk([...event.dataTransfer.files]);
      }}
    >
      <TopBar />
      <ServerBanner />
      {view === "labs" && (
        <main className="page">
          <LabsPage />
        </main>
      )}
      {view === "runs" && (
        <main className="page">
          <RunsPage />
        </main>
      )}
      {/* The studio stays mounted behind the other pages, so that terminals and charts keep their state. */}
      <div className="studio" hidden={view !== "studio"} data-narrow={narrow} data-reading={reads}>
        {current === null ? (
          <Start />
        ) : (
          <>
            <nav className="narrow-switch" aria-label="Parts of the page">
              <button type="button" aria-current={narrow === "network"} onClick={() => set({ narrow: "network" })}>
                Network
              </button>
              <button type="button" aria-current={narrow === "panel"} onClick={() => set({ narrow: "panel" })}>
                {current.lab === null ? "Properties and text" : "Lab and properties"}
              </button>
            </nav>
            <Palette />
            <main className="middle">
              <h1 className="unseen">{current.name}</h1>
              <ClockBar document={current} />
              <Canvas document={current} />
              <Timeline document={current} />
              <Dock document={current} />
            </main>
            <RightPanel document={current} />
          </>
        )}
      </div>
      {dropping && <div className="drop-here">Drop a study, a .mn file or a Mininet script here to open it</div>}
      <Dialogs />
      <Notices />
    </div>
  );
}

/** When all tabs are closed. */
function Start() {
  const openNew = useDocuments((state) => state.openNew);
  return (
    <main className="start">
      <h1>longfat studio</h1>
      <p>Draw a network, set its links' rate, delay and loss, run traffic through it in virtual time, and watch.</p>
      <div className="button-row">
        <button type="button" className="main" onClick={() => void openNew()}>
          New network
        </button>
        <button type="button" onClick={() => useDialogs.getState().open({ kind: "open" })}>
          Open…
        </button>
        <button type="button" onClick={() => useUi.getState().set({ view: "labs" })}>
          Labs
        </button>
      </div>
    </main>
  );
}

/** Shows a document when it is opened or chosen, with nothing selected. */
function useShown(): void {
  const shown = useDocuments((state) => state.shown);
  const currentId = useDocuments((state) => state.currentId);
  useEffect(() => {
    if (shown > 0) useUi.getState().set({ view: "studio" });
  }, [shown]);
  useEffect(() => useUi.getState().set({ selection: NOTHING, tool: "select" }), [currentId]);
}

function usePageKeys(): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "?" && !event.ctrlKey && !event.metaKey && !isTyping(event.target)) {
        event.preventDefault();
        useDialogs.getState().open({ kind: "keys" });
        return;
      }
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const inDialog = event.target instanceof Element && event.target.closest("dialog") !== null;
      // Ctrl+S and Ctrl+O belong to a terminal that has the focus.
      const inTerminal = isTyping(event.target) && event.target instanceof Element && event.target.closest(".xterm") !== null;
      if (inDialog || inTerminal) return;
      const id = useDocuments.getState().currentId;
      const key = event.key.toLowerCase();
      if (key === "o") {
        event.preventDefault();
        useDialogs.getState().open({ kind: "open" });
      } else if (key === "s" && id !== null) {
        event.preventDefault();
        if (event.shiftKey) useDialogs.getState().open({ kind: "save-as", documentId: id });
        else save(id);
      }
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
