/** A line of time that can be dragged, played, and jumped along, with marks of what happened. */

import type { KeyboardEvent, ReactNode } from "react";
import { useEffect, useRef, useState } from "react";

import { tellClock } from "../live/quantities";
import { nextMoment, type Moment } from "./moments";
import { advanced, PACES } from "./player";
import "./timeline.css";

/** A mark; of two runs side by side, 0 or 1 is the one that it is of. */
export interface Mark extends Moment {
  side?: number;
}

interface PlayBarProps {
  /** What the bar, its slider, its moment and a mark of it are called where they cannot be seen. */
  names: { bar: string; slider: string; moment: string; mark: string };
  /** The moment that is shown, after the start; null for the end, as it comes. */
  at: number | null;
  end_s: number;
  /** The clock's time at the start. */
  start_s: number;
  moments: readonly Mark[];
  show: (at_s: number | null) => void;
  /** Whether more is recorded at the moment. */
  going?: boolean;
  /** Whether it says what the moment's marks are. */
  tells?: boolean;
  /** Buttons behind the others. */
  more?: (go: (at_s: number | null) => void) => ReactNode;
  children?: ReactNode;
}

type Kind = Moment["kind"] | "any";

const KINDS: readonly { kind: Kind; label: string }[] = [
  { kind: "any", label: "anything" },
  { kind: "drop", label: "drop" },
  { kind: "change", label: "change" },
  { kind: "event", label: "event" },
  { kind: "command", label: "command" },
];
/** More marks than pixels help nobody. */
const MOST_MARKS = 400;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

export function PlayBar({ names, at, end_s, start_s, moments, show, going = false, tells = false, more, children }: PlayBarProps) {
  const [pace, setPace] = useState<number | null>(1);
  const [kind, setKind] = useState<Kind>("any");
  const [playing, setPlaying] = useState(false);
  const wanted = kind === "any" ? moments : moments.filter((one) => one.kind === kind);
  const shown = at ?? end_s;
  const near = at === null ? [] : moments.filter((one) => Math.abs(one.at_s - at) < 1e-6);
  const words = near.some(({ side }) => side !== undefined)
    ? near.map(({ side, text }) => `${side === 0 ? "left" : "right"}: ${text}`).join("; ")
    : (near.at(-1)?.text ?? "");
  usePlaying(playing, { at: shown, pace, end_s, show, stop: () => setPlaying(false) });

  const go = (at_s: number | null) => {
    setPlaying(false);
    show(at_s === null ? null : Math.min(end_s, Math.max(0, at_s)));
  };
  const jump = (direction: 1 | -1) => {
    const found = nextMoment(wanted, shown, direction);
    if (found !== null) go(found.at_s);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const step = STEPS[event.key];
    if (step !== undefined) go(shown + (step * (event.shiftKey ? 0.1 : 1) * end_s) / 200);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(going ? null : end_s);
    else if (event.key === "n" || event.key === "p") jump(event.key === "n" ? 1 : -1);
    else return;
    event.preventDefault();
  };
  const play = () => {
    if (!playing) show(shown >= end_s ? 0 : shown);
    setPlaying(!playing);
  };
  const what = kind === "any" ? "drop, change, event or command" : kind;

  return (
    <section className="timeline" aria-label={names.bar}>
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
          aria-label={names.slider}
          aria-valuetext={`${tellClock(shown + start_s)}${words === "" ? "" : `, ${words}`}`}
          title="Drag, or use the arrow keys (with Shift: finer), Home, End; N and P go to the next and the previous mark"
          min={0}
          max={Math.max(end_s, 1e-3)}
          step="any"
          value={shown}
          onKeyDown={onKeyDown}
          onChange={(event) => go(event.target.valueAsNumber)}
        />
      </div>
      <output className={at === null ? "timeline-time" : "timeline-time timeline-past"} aria-label={names.moment} title={words === "" ? undefined : words}>
        {tellClock(shown + start_s)}
      </output>
      <div className="timeline-buttons">
        <button type="button" aria-label={`Previous ${names.mark}`} title={`Back to the previous ${what} (P)`} disabled={nextMoment(wanted, shown, -1) === null} onClick={() => jump(-1)}>
          ◀
        </button>
        <select aria-label="What to jump to" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
          {KINDS.map(({ kind: each, label }) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
        <button type="button" aria-label={`Next ${names.mark}`} title={`On to the next ${what} (N)`} disabled={nextMoment(wanted, shown, 1) === null} onClick={() => jump(1)}>
          ▶
        </button>
        {more?.(go)}
      </div>
      {tells && (
        <p className="timeline-words" role="status">
          {words}
        </p>
      )}
      {children}
    </section>
  );
}

/** What happened, as marks above the slider: the nearer to the top, the more a person has done. */
function Marks({ moments, end_s }: { moments: readonly Mark[]; end_s: number }) {
  if (end_s === 0) return null;
  const every = Math.ceil(moments.length / MOST_MARKS);
  return (
    <div className="timeline-marks" aria-hidden="true">
      {moments
        .filter((_, index) => index % every === 0)
        .map(({ kind, at_s, text, side }, index) => (
          <span
            key={index}
            className={`timeline-mark timeline-${kind}${side === 1 ? " timeline-other" : ""}`}
            style={{ left: `${(at_s / end_s) * 100}%` }}
            title={text}
          />
        ))}
    </div>
  );
}

interface Playing {
  at: number;
  pace: number | null;
  end_s: number;
  show: (at_s: number) => void;
  stop: () => void;
}

function usePlaying(playing: boolean, options: Playing): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    if (!playing) return undefined;
    let last = performance.now();
    let at = latest.current.at;
    let frame = requestAnimationFrame(function tick(now) {
      const { pace, end_s, show, stop } = latest.current;
      at = advanced(at, (now - last) / 1000, pace, end_s);
      last = now;
      show(at);
      if (at >= end_s) stop();
      else frame = requestAnimationFrame(tick);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing]);
}
