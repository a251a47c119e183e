/**
 * The bar above the canvas: runs the flows and controls virtual time.
 *
 * It also keeps the document and its session together (`follow.ts`), because it
 * is mounted whenever a document is open.
 */

import { useEffect } from "react";
import type { StudyDocument } from "../documents/model";
import { isUntouched } from "../documents/store";
import { ClockBanners } from "./ClockBanners";
import { Pace } from "./Pace";
import { useFollowing, useSessionCleanup } from "./follow";
import { caseOf, chooseCase, confirmEnd, endSession, restartSession, startRun, useLaunch } from "./launch";
import { formatClock, formatSpeed } from "./quantities";
import { useLive, useSession } from "./store";
import { isGoingOn, latestOf } from "./view";
import type { SessionView } from "./view";
import "./clock.css";

export function whyNoRun(document: StudyDocument, chosen: string | null): string | null {
  const { check } = document;
  if (check === null) return "The drawing is being checked";
  if (isUntouched(document)) return "There is no network yet: place hosts and switches, link them, and draw a flow";
  const count = check.problems.length;
  if (count > 0) return count === 1 ? "The text has a problem: see the list" : `The text has ${count} problems: see the list`;
  const cases = check.study?.cases ?? [];
  const one = cases.find((each) => each.name === chosen) ?? cases[0];
  if (one === undefined || one.flows.length === 0) {
    return "There are no flows yet: draw one from host to host with the Flow tool (F)";
  }
  return null;
}

const MEANING = {
  running: "Virtual time is running",
  idle: "No process in the network has anything to do, so its clock is paused",
  held: "Virtual time is held: read values, change links, type, step, or resume",
};

interface ClockFaceProps {
  view: SessionView | undefined;
  starting: boolean;
}

export function ClockFace({ view, starting }: ClockFaceProps) {
  if (starting || view === undefined || view.clock === null || view.link === "ended") {
    const words = starting ? "The machine boots…" : view?.link === "connecting" ? "Connecting…" : "No network yet";
    return (
      <div className="clock-face" role="status">
        <span className="clock-time">–</span>
        <span className="clock-state">{words}</span>
      </div>
    );
  }
  const { now_s, state, speed } = view.clock;
  return (
    <div className="clock-face" title={`${MEANING[state]}. Virtual time since the boot: ${now_s.toFixed(9)} s`}>
      <span className="clock-time" aria-label="Virtual time">
        {formatClock(now_s)}
      </span>
      <span className={`clock-state clock-${state}`}>
        <span className="clock-dot" aria-hidden="true" />
        <span role="status">{state}</span>
        {state === "running" && <span className="clock-speed"> {formatSpeed(speed)} real time</span>}
      </span>
    </div>
  );
}

const STEPS = [
  { by_s: 0.001, label: "1 ms" },
  { by_s: 0.01, label: "10 ms" },
  { by_s: 0.1, label: "100 ms" },
  { by_s: 1, label: "1 s" },
];

export function ClockBar({ document }: { document: StudyDocument }) {
  useSessionCleanup();
  useFollowing(document);
  const view = useSession(document.sessionId);
  const starting = useLaunch((state) => state.starting[document.id] ?? false);
  const send = useLive((state) => state.send);

  const id = document.sessionId;
  const alive = id !== null && view?.link === "open";
  const held = view?.clock?.state === "held";
  const going = alive && isGoingOn(latestOf(view));
  const reason = whyNoRun(document, caseOf(document));
  const cases = (document.check?.study ?? document.lastGood)?.cases ?? [];

  useSpace(alive ? () => send(id, { do: held ? "go" : "hold" }) : null);

  return (
    <section className="clock" aria-label="Clock bar">
      <div className="clock-row">
        <div className="clock-group">
          <button
            type="button"
            className="clock-run"
            disabled={reason !== null || starting || going}
            title={reason ?? (going ? "Flows are running: stop them first" : "Start the flows, and measure")}
            onClick={() => void startRun(document.id)}
          >
            {starting ? (
              "Starting…"
            ) : (
              <>
                <span aria-hidden="true">▶</span> Run
              </>
            )}
          </button>
          {cases.length > 1 && (
            <select
              aria-label="Case to run"
              title="The case to run"
              value={caseOf(document) ?? ""}
              onChange={(event) => chooseCase(document.id, event.target.value)}
            >
              {caseOf(document) === null && (
                <option value="" title="The settings common to all cases, and the commands typed so far">
                  by hand
                </option>
              )}
              {cases.map(({ name, title }) => (
                <option key={name} value={name} title={title}>
                  {name}
                </option>
              ))}
            </select>
          )}
          <button
            type="button"
            disabled={!going}
            title="Stop the flows; the network keeps running"
            onClick={() => id !== null && send(id, { do: "stop" })}
          >
            <span aria-hidden="true">■</span> Stop<span className="unseen"> flows</span>
          </button>
        </div>

        <ClockFace view={view} starting={starting} />

        <div className="clock-group">
          <button
            type="button"
            className="clock-hold"
            disabled={!alive}
            aria-pressed={held}
            title={held ? "Resume virtual time (Space)" : "Hold virtual time (Space)"}
            onClick={() => id !== null && send(id, { do: held ? "go" : "hold" })}
          >
            {held ? "Go" : "Hold"}
          </button>
          <div className="clock-steps" role="group" aria-label="Step virtual time">
            {STEPS.map(({ by_s, label }) => (
              <button
                key={label}
                type="button"
                disabled={!alive}
                aria-label={`Step ${label}`}
                title={`Advance virtual time by ${label}, then hold`}
                onClick={() => id !== null && send(id, { do: "step", by_s })}
              >
                +{label}
              </button>
            ))}
          </div>
          <button
            type="button"
            disabled={!alive || held || (view?.clock?.commands ?? 0) === 0}
            aria-pressed={view?.clock?.skipping ?? false}
            title="As fast as possible until a typed command ends (Ctrl-] in a terminal)"
            onClick={() => id !== null && send(id, { do: "skip" })}
          >
            Skip
          </button>
        </div>

        <Pace
          pace={view?.clock?.pace ?? null}
          disabled={!alive}
          onPace={(factor) => id !== null && send(id, { do: "pace", factor })}
        />

        <div className="clock-group clock-last">
          <button
            type="button"
            disabled={id === null || view?.link === "ended" || starting}
            title="Restart: rebuild the network as it is drawn now"
            aria-label="Restart the network"
            onClick={() => void restartSession(document.id)}
          >
            ↻
          </button>
          <button
            type="button"
            disabled={id === null || view?.link === "ended" || starting}
            title="End the session: its machine and terminals are closed; its runs are kept"
            aria-label="End the session"
            onClick={() => confirmEnd(document.id, () => void endSession(document.id))}
          >
            ✕
          </button>
        </div>
      </div>
      <ClockBanners document={document} view={view} />
    </section>
  );
}

/** Space holds and resumes, unless an input or a button has the focus. */
function useSpace(act: (() => void) | null): void {
  useEffect(() => {
    if (act === null) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.code !== "Space" || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      const target = event.target;
      const busy = "input, textarea, select, button, a, summary, [contenteditable=true], .xterm, dialog, [role=menu]";
      if (event.defaultPrevented || (target instanceof Element && target.closest(busy) !== null)) return;
      event.preventDefault();
      act();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });
}
