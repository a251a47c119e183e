/**
 * The line of time below the network: any moment of what was recorded can be shown, played and
 * jumped to, while the session goes on or long after it.
 */

import { useEffect, useMemo, useRef, useState } from "react";
import type { KeyboardEvent } from "react";

import { chartViewOf, type ChartView } from "../charts/view";
import type { Recording } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { shownOf, useSession } from "../live/store";
import { tellClock } from "../live/quantities";
import { isGoingOn, latestOf, type SessionView } from "../live/view";
import { MomentCard } from "./MomentCard";
import { endOf, momentsOf, nextMoment, type Moment } from "./moments";
import { advanced, PACES, showMoment, useMoment } from "./player";
import "./timeline.css";

const EVERY_MS = 250;
const KINDS: { kind: Moment["kind"] | "any"; label: string }[] = [
  { kind: "any", label: "anything" },
  { kind: "drop", label: "drop" },
  { kind: "change", label: "change" },
  { kind: "event", label: "event" },
  { kind: "command", label: "command" },
];
/** More marks than pixels help nobody. */
const MOST_MARKS = 400;

export function Timeline({ document }: { document: StudyDocument }) {
  const view = useSession(shownOf(document));
  const recording = latestOf(view);
  if (view === undefined || recording === null || (recording.number === 0 && recording.series.length === 0)) return null;
  const close = () => useDocuments.getState().showRun(document.id, null);
  return <Line key={`${view.id} ${recording.number}`} session={view} recording={recording} close={view.run === null ? null : close} />;
}

interface LineProps {
  session: SessionView;
  recording: Recording;
  /** Shows the run no more; null where it is of the session. */
  close: (() => void) | null;
}

function Line({ session, recording, close }: LineProps) {
  const { book } = session;
  const view = chartViewOf(book);
  const at = useMoment(book);
  const { end_s, moments } = useWhole(recording, session);
  const [pace, setPace] = useState<number | null>(1);
  const [kind, setKind] = useState<Moment["kind"] | "any">("any");
  const [playing, setPlaying] = useState(false);
  const going = isGoingOn(recording) && session.link === "open";
  const wanted = kind === "any" ? moments : moments.filter((one) => one.kind === kind);
  const shown = at ?? end_s;

  // Another run begins at its own end.
  useEffect(() => () => showMoment(view, null), [view]);
  usePlaying({ playing, setPlaying, view, pace, end_s });

  const go = (at_s: number | null) => {
    setPlaying(false);
    showMoment(view, at_s === null ? null : Math.min(end_s, Math.max(0, at_s)));
  };
  const jump = (direction: 1 | -1) => {
    const found = nextMoment(wanted, shown, direction);
    if (found !== null) go(found.at_s);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    const step = steps[event.key];
    if (step !== undefined) go(shown + (step * (event.shiftKey ? 0.1 : 1) * end_s) / 200);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(going ? null : end_s);
    else if (event.key === "n" || event.key === "p") jump(event.key === "n" ? 1 : -1);
    else return;
    event.preventDefault();
  };
  const play = () => {
    if (!playing && shown >= end_s) showMoment(view, 0);
    else if (!playing) showMoment(view, shown);
    setPlaying(!playing);
  };
  const near = at === null ? undefined : moments.filter((one) => Math.abs(one.at_s - at) < 1e-6).at(-1);

  return (
    <section className="timeline" aria-label="Timeline">
      <div className="timeline-buttons">
        <button type="button" aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause" : "Play what was recorded"} disabled={end_s === 0} onClick={play}>
          {playing ? "❚❚" : "▶"}
        </button>
        <select aria-label="Pace of playing" title="Virtual seconds in a real one" value={String(pace)} onChange={(event) => setPace(event.target.value === "null" ? null : Number(event.target.value))}>
          {PACES.map(({ pace: each, label }) => (
            <option key={label} value={String(each)}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div className="timeline-track">
        <Marks moments={moments} end_s={end_s} />
        <input
          type="range"
          aria-label="Moment that is shown"
          aria-valuetext={`${tellClock(shown + recording.start_s)}${near === undefined ? "" : `, ${near.text}`}`}
          title="Drag, or use the arrow keys (with Shift: finer), Home, End; N and P go to the next and the previous mark"
          min={0}
          max={Math.max(end_s, 1e-3)}
          step="any"
          value={shown}
          onKeyDown={onKeyDown}
          onChange={(event) => go(event.target.valueAsNumber)}
        />
      </div>
      <output className={at === null ? "timeline-time" : "timeline-time timeline-past"} aria-label="The moment" title={near?.text}>
        {tellClock(shown + recording.start_s)}
      </output>
      <div className="timeline-buttons">
        <button type="button" aria-label="Previous mark" title={`Back to the previous ${wordOf(kind)} (P)`} disabled={nextMoment(wanted, shown, -1) === null} onClick={() => jump(-1)}>
          ◀
        </button>
        <select aria-label="What to jump to" value={kind} onChange={(event) => setKind(event.target.value as typeof kind)}>
          {KINDS.map(({ kind: each, label }) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
        <button type="button" aria-label="Next mark" title={`On to the next ${wordOf(kind)} (N)`} disabled={nextMoment(wanted, shown, 1) === null} onClick={() => jump(1)}>
          ▶
        </button>
        <button type="button" className="timeline-now" disabled={at === null} title={going ? "Show what happens now" : "Show the end"} onClick={() => go(null)}>
          {going ? "Now" : "End"}
        </button>
        {close !== null && (
          <button type="button" aria-label="Close this run" title={`${session.run ?? ""}: show it no more; it stays in Runs`} onClick={close}>
            ✕
          </button>
        )}
      </div>
      <MomentCard sessionId={session.id} place="line" />
    </section>
  );
}

function wordOf(kind: Moment["kind"] | "any"): string {
  return kind === "any" ? "drop, change, event or command" : kind;
}

/** The end and the marks, looked at a few times a second while the recording grows. */
function useWhole(recording: Recording, { book }: SessionView): { end_s: number; moments: Moment[] } {
  const [revision, setRevision] = useState(book.revision);
  useEffect(() => {
    const timer = setInterval(() => setRevision(book.revision), EVERY_MS);
    return () => clearInterval(timer);
  }, [book]);
  return useMemo(() => {
    void revision;
    return { end_s: endOf(recording, book), moments: momentsOf(recording, book) };
  }, [recording, book, revision]);
}

interface Playing {
  playing: boolean;
  setPlaying: (playing: boolean) => void;
  view: ChartView;
  pace: number | null;
  end_s: number;
}

function usePlaying({ playing, setPlaying, view, pace, end_s }: Playing): void {
  const end = useRef(end_s);
  end.current = end_s;
  useEffect(() => {
    if (!playing) return undefined;
    let last = performance.now();
    let frame = requestAnimationFrame(function tick(now) {
      const at = advanced(view.store.getState().at ?? 0, (now - last) / 1000, pace, end.current);
      last = now;
      showMoment(view, at);
      if (at >= end.current) setPlaying(false);
      else frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing, setPlaying, view, pace]);
}

/** What happened, as marks above the slider: the nearer to the top, the more a person has done. */
function Marks({ moments, end_s }: { moments: readonly Moment[]; end_s: number }) {
  if (end_s === 0) return null;
  const every = Math.ceil(moments.length / MOST_MARKS);
  return (
    <div className="timeline-marks" aria-hidden="true">
      {moments
        .filter((_, index) => index % every === 0)
        .map(({ kind, at_s, text }, index) => (
          <span key={index} className={`timeline-mark timeline-${kind}`} style={{ left: `${(at_s / end_s) * 100}%` }} title={text} />
        ))}
    </div>
  );
}
