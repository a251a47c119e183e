/** The dock's terminals: tabs by node, several side by side. */

import { useEffect, useRef } from "react";
import type { TerminalInfo } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useLaunch } from "../live/launch";
import { useLive, useSession } from "../live/store";
import type { SessionView } from "../live/view";
import { FilesMenu } from "./FilesMenu";
import { TerminalPane } from "./TerminalPane";
import { openTerminal } from "./open";
import { NO_PANES, aloneAgain, beside, shown, updated, useTerminals, without } from "./store";
import type { Panes } from "./store";
import "@xterm/xterm/css/xterm.css";
import "./terminals.css";

export function NodeMenu({ document }: { document: StudyDocument }) {
  const view = useSession(document.sessionId);
  const details = useRef<HTMLDetailsElement>(null);
  const nodes = nodesOf(document, view?.session?.nodes.map(({ name }) => name) ?? []);
  return (
    <details
      className="chart-menu"
      ref={details}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || details.current === null) return;
        details.current.open = false;
        details.current.querySelector("summary")?.focus();
      }}
    >
      <summary className="small-button">+ Terminal</summary>
      <div className="chart-menu-body terminal-nodes">
        {nodes.map((node) => (
          <button
            key={node}
            type="button"
            className="small-button"
            onClick={() => {
              if (details.current !== null) details.current.open = false;
              void openTerminal(document, node, { another: true });
            }}
          >
            {node}
          </button>
        ))}
      </div>
    </details>
  );
}

/** Hosts first, then switches, then root; from the drawing and from the running network. */
function nodesOf({ check, lastGood }: StudyDocument, running: readonly string[]): string[] {
  const network = (check?.study ?? lastGood)?.network;
  const drawn = [...(network?.hosts ?? []), ...(network?.switches ?? [])].map(({ name }) => name);
  const rest = running.filter((name) => name !== "root" && !drawn.includes(name));
  return [...drawn, ...rest, "root"];
}

interface TerminalsTabProps {
  document: StudyDocument;
  view: SessionView | undefined;
  /** Whether the dock shows it. */
  shown: boolean;
}

export function TerminalsTab({ document, view, shown: isShown }: TerminalsTabProps) {
  const starting = useLaunch((state) => state.starting[document.id] ?? false);
  const { change, readerMode, setReaderMode } = useTerminals();
  const panes = useTerminals((state) => state.sessions[view?.id ?? ""] ?? NO_PANES);
  const all = view?.terminals.filter(({ id }) => !panes.closed.includes(id)) ?? [];
  useNews(view, all);

  return (
    <>
      <div className="terminal-bar">
        <div className="terminal-tabs" role="group" aria-label="Terminals">
          {view !== undefined &&
            all.map((info) => <Tab key={info.id} info={info} label={labelOf(info, all)} panes={panes} sessionId={view.id} />)}
        </div>
        <NodeMenu document={document} />
        {view !== undefined && view.link === "open" && <FilesMenu sessionId={view.id} />}
        <span className="grow" />
        {view !== undefined && panes.shown.length > 1 && (
          <button type="button" className="small-button" onClick={() => change(view.id, aloneAgain)}>
            Show one
          </button>
        )}
        <label title="Makes terminal output available to screen readers; Ctrl+Shift+E leaves a terminal">
          <input type="checkbox" checked={readerMode} onChange={(event) => setReaderMode(event.target.checked)} />
          Screen reader
        </label>
      </div>
      {all.length === 0 || view === undefined ? (
        <p className="empty" role="status">
          {starting ? (
            "The machine is booting and setting up the network: this takes about a second."
          ) : (
            <>
              A terminal is a shell at a node. Choose one with <strong>+ Terminal</strong>, or double-click a node. Time
              passes while a command runs, and is paused while all wait at their prompts.
            </>
          )}
        </p>
      ) : (
        <div className="terminal-panes">
          {all.map((info) => (
            <TerminalPane
              key={`${view.id} ${info.id}`}
              sessionId={view.id}
              info={info}
              shown={isShown && panes.shown.includes(info.id)}
              active={panes.active === info.id}
              focus={panes.focus}
              onActive={() => change(view.id, (each) => (each.active === info.id ? each : { ...each, active: info.id }))}
            />
          ))}
        </div>
      )}
    </>
  );
}

interface TabProps {
  info: TerminalInfo;
  label: string;
  panes: Panes;
  sessionId: string;
}

function Tab({ info, label, panes, sessionId }: TabProps) {
  const { change } = useTerminals();
  const isShown = panes.shown.includes(info.id);
  return (
    <span className="terminal-tab" data-shown={isShown} data-active={panes.active === info.id} data-ended={info.status !== null}>
      <button type="button" aria-pressed={isShown} title={`Show ${label}`} onClick={() => change(sessionId, (each) => shown(each, info.id))}>
        {label}
      </button>
      {!isShown && (
        <button type="button" aria-label={`Show ${label} beside the others`} title="Show beside the others" onClick={() => change(sessionId, (each) => beside(each, info.id))}>
          ◫
        </button>
      )}
      <button
        type="button"
        aria-label={`Close ${label}`}
        title="Close: ends its shell"
        onClick={() => {
          change(sessionId, (each) => without(each, info.id));
          useLive.getState().send(sessionId, { do: "close-terminal", id: info.id });
        }}
      >
        ✕
      </button>
    </span>
  );
}

/** `h1`, and `h1 (2)` for the second there. */
function labelOf(info: TerminalInfo, all: readonly TerminalInfo[]): string {
  const place = all.filter(({ node }) => node === info.node).findIndex(({ id }) => id === info.id);
  return place === 0 ? info.node : `${info.node} (${place + 1})`;
}

/** New terminals are added beside the others, and the requested one gets the focus. */
function useNews(view: SessionView | undefined, all: readonly TerminalInfo[]): void {
  const known = useRef(new Map<string, Set<number>>());
  const sessionId = view?.id;
  const ids = all.map(({ id }) => id).join(" ");
  useEffect(() => {
    if (sessionId === undefined) return;
    const seen = known.current.get(sessionId) ?? new Set<number>();
    known.current.set(sessionId, seen);
    const before = new Set(seen);
    useTerminals.getState().change(sessionId, (panes) => updated(panes, all, before));
    for (const { id } of all) seen.add(id);
    // The list is a new object at each event; only its members matter.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [sessionId, ids]);
}
