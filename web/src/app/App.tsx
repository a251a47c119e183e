/** The page: toolbar, palette, canvas, panel and dock; or the labs, or the runs. */

import type { DragEvent } from "react";
import { useEffect, useState } from "react";
import { Canvas } from "../canvas/Canvas";
import { isTyping } from "../canvas/keys";
import { Palette } from "../canvas/Palette";
import { useCurrentDocument, useDocuments } from "../documents/store";
import { openFromDisk, save } from "../files/actions";
import { Dialogs } from "../files/Dialogs";
import { useDialogs } from "../files/dialogs";
import { LabsPage } from "../labs/LabsPage";
import { ClockBar } from "../live/ClockBar";
import { Dock } from "../live/Dock";
import { PacketdrillPage } from "../packetdrill/PacketdrillPage";
import { RunsPage } from "../runs/RunsPage";
import { Timeline } from "../timeline/Timeline";
import { Notices } from "./Notices";
import { ServerBanner } from "./ServerBanner";
import { RightPanel } from "./RightPanel";
import { useTheme } from "./theme";
import { TopBar } from "./TopBar";
import { NOTHING, useUi } from "./ui";

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
      {view === "packetdrill" && (
        <main className="page">
          <PacketdrillPage />
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
      {dropping && <div className="drop-here">Drop a study, a .mn file, a Mininet or a packetdrill script here to open it</div>}
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
