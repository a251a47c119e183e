/**
 * The dock below the canvas: charts, terminals, flows and messages of the document's session.
 *
 * Terminals stay mounted behind the other tabs, so that their screens need not be
 * redrawn; charts do not, because drawing them takes time.
 */

import { useRef } from "react";
import type { KeyboardEvent } from "react";
import { ChartsTab } from "../charts/ChartsTab";
import type { StudyDocument } from "../documents/model";
import { PacketsTab } from "../packets/PacketsTab";
import { TerminalsTab } from "../terminals/TerminalsTab";
import { FlowsTab } from "./FlowsTab";
import { MIN_SHARE, MAX_SHARE, useDock } from "./dockStore";
import type { DockTab } from "./dockStore";
import { formatClock } from "./quantities";
import { useShownRun } from "./shownRun";
import { shownOf, useLive, useSession } from "./store";
import type { SessionView } from "./view";
import "./dock.css";

export function MessagesTab({ view }: { view: SessionView | undefined }) {
  if (view === undefined || view.messages.length === 0) {
    return <p className="empty">No messages. Failed commands and warnings are reported here.</p>;
  }
  return (
    <>
      <div className="tool-row">
        <span className="grow" />
        <button
          type="button"
          className="small-button"
          onClick={() => useLive.getState().change(view.id, (each) => ({ ...each, messages: [] }))}
        >
          Clear
        </button>
      </div>
      <ol className="messages" aria-live="polite" aria-label="Messages, newest first">
        {[...view.messages].reverse().map((message) => (
          <li key={message.number} className={`message-${message.level}`}>
            <time title="Virtual time">{message.at_s === null ? "–" : formatClock(message.at_s)}</time>
            <span className="level">{message.level}</span>
            <span className="text">
              {message.about !== "" && <span className="about">{message.about}: </span>}
              {message.text}
              {message.times > 1 && <span className="about"> ({message.times} times)</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

export function tabKeys<T extends string>(
  tabs: readonly T[],
  current: T,
  show: (tab: T) => void,
): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const place = (tabs.indexOf(current) + by + tabs.length) % tabs.length;
    const next = tabs[place];
    if (next === undefined) return;
    event.preventDefault();
    show(next);
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]");
    buttons[place]?.focus();
  };
}

const TABS: { tab: DockTab; label: string }[] = [
  { tab: "charts", label: "Charts" },
  { tab: "packets", label: "Packets" },
  { tab: "terminals", label: "Terminals" },
  { tab: "flows", label: "Flows" },
  { tab: "messages", label: "Messages" },
];

export function Dock({ document }: { document: StudyDocument }) {
  const { tab, share, folded, show, setFolded } = useDock();
  useShownRun(document);
  const view = useSession(shownOf(document));
  const errors = view?.messages.filter((message) => message.level === "error").length ?? 0;
  const counts: Partial<Record<DockTab, number>> = {
    packets: view?.captures.length ?? 0,
    terminals: view?.terminals.filter((terminal) => terminal.status === null).length ?? 0,
    messages: view?.messages.length ?? 0,
  };
  const onKeyDown = tabKeys(TABS.map((each) => each.tab), tab, show);

  return (
    <section className="dock" aria-label="Dock" style={folded ? undefined : { height: `${share * 100}vh` }}>
      {!folded && <Splitter />}
      <header className="dock-head">
        <div role="tablist" aria-label="Dock" className="dock-tabs" onKeyDown={onKeyDown}>
          {TABS.map(({ tab: each, label }) => (
            <button
              key={each}
              type="button"
              role="tab"
              id={`dock-tab-${each}`}
              aria-selected={tab === each}
              aria-controls="dock-body"
              tabIndex={tab === each ? 0 : -1}
              onClick={() => show(each)}
            >
              {label}
              {(counts[each] ?? 0) > 0 && (
                <span className={each === "messages" && errors > 0 ? "dock-count dock-count-bad" : "dock-count"}>
                  {counts[each]}
                </span>
              )}
            </button>
          ))}
        </div>
        <button
          type="button"
          className="dock-fold"
          aria-expanded={!folded}
          aria-label={folded ? "Unfold the dock" : "Fold the dock"}
          title={folded ? "Unfold" : "Fold"}
          onClick={() => setFolded(!folded)}
        >
          {folded ? "▴" : "▾"}
        </button>
      </header>
      <div className="dock-body" id="dock-body" role="tabpanel" aria-labelledby={`dock-tab-${tab}`} hidden={folded}>
        {tab === "charts" && !folded && <ChartsTab documentId={document.id} view={view} />}
        {tab === "packets" && !folded && <PacketsTab view={view} />}
        <div className="dock-page" hidden={tab !== "terminals"}>
          <TerminalsTab document={document} view={view} shown={tab === "terminals" && !folded} />
        </div>
        {tab === "flows" && <FlowsTab documentId={document.id} view={view} />}
        {tab === "messages" && <MessagesTab view={view} />}
      </div>
    </section>
  );
}

/** The dock's upper edge: drag it, or use the arrow keys. */
function Splitter() {
  const { share, setShare } = useDock();
  const start = useRef<{ y: number; share: number } | null>(null);
  return (
    <div
      className="dock-splitter"
      role="separator"
      aria-orientation="horizontal"
      aria-label="Height of the dock"
      aria-valuenow={Math.round(share * 100)}
      aria-valuemin={MIN_SHARE * 100}
      aria-valuemax={MAX_SHARE * 100}
      aria-valuetext={`${Math.round(share * 100)} % of the window`}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { y: event.clientY, share };
      }}
      onPointerMove={(event) => {
        if (start.current === null) return;
        setShare(start.current.share + (start.current.y - event.clientY) / window.innerHeight);
      }}
      onPointerUp={() => (start.current = null)}
      onPointerCancel={() => (start.current = null)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowUp" ? 0.02 : event.key === "ArrowDown" ? -0.02 : 0;
        if (by === 0) return;
        event.preventDefault();
        setShare(share + by);
      }}
    />
  );
}
