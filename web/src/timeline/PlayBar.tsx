/** A timeline with a slider, playback, and jumps to marks of events. */

import type { KeyboardEvent, ReactNode } from "react";
import { useEffect, useRef, useState } from "react";

import { formatClock } from "../live/quantities";
import { nextMoment, type Moment } from "./moments";
import { advanced, PACES } from "./player";
import "./timeline.css";

/** A mark; `side` is the run, 0 or 1, if two are shown side by side. */
export interface Mark extends Moment {
  side?: number;
}

interface PlayBarProps {
  /** Accessible names of the bar, its slider, its time and a mark. */
  names: { bar: string; slider: string; moment: string; mark: string };
  /** The displayed time, after the start; null follows the end. */
  at: number | null;
  end_s: number;
  /** The clock's time at the start. */
  start_s: number;
  moments: readonly Mark[];
  show: (at_s: number | null) => void;
  /** Whether the recording is still running. */
  going?: boolean;
  /** Whether it shows the text of the marks at the displayed time. */
  showsText?: boolean;
  /** Buttons after the others. */
  more?: (go: (at_s: number | null) => void) => ReactNode;
  /** A lane between the marks and the slider. */
  lane?: ReactNode;
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
/** Limits the number of marks: more would not be distinguishable. */
const MAX_MARKS = 400;
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };

export function PlayBar({ names, at, end_s, start_s, moments, show, going = false, showsText = false, more, lane, children }: PlayBarProps) {
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
        <button type="button" aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause" : "Play the recording"} disabled={end_s === 0} onClick={play}>
          {playing ? "❚❚" : "▶"}
        </button>
        <select aria-label="Playback speed" title="Virtual seconds per real second" value={String(pace)} onChange={(event) => setPace(event.target.value === "null" ? null : Number(event.target.value))}>
          {PACES.map(({ pace: each, label }) => (
            <option key={label} value={String(each)}>
              {label}
            </option>
          ))}
        </select>
      </div>
      <div className="timeline-track">
        <Marks moments={moments} end_s={end_s} />
        {lane}
        <input
          type="range"
          aria-label={names.slider}
          aria-valuetext={`${formatClock(shown + start_s)}${words === "" ? "" : `, ${words}`}`}
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
        {formatClock(shown + start_s)}
      </output>
      <div className="timeline-buttons">
        <button type="button" aria-label={`Previous ${names.mark}`} title={`Previous ${what} (P)`} disabled={nextMoment(wanted, shown, -1) === null} onClick={() => jump(-1)}>
          ◀
        </button>
        <select aria-label="What to jump to" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
          {KINDS.map(({ kind: each, label }) => (
            <option key={each} value={each}>
              {label}
            </option>
          ))}
        </select>
        <button type="button" aria-label={`Next ${names.mark}`} title={`Next ${what} (N)`} disabled={nextMoment(wanted, shown, 1) === null} onClick={() => jump(1)}>
          ▶
        </button>
        {more?.(go)}
      </div>
      {showsText && (
        <p className="timeline-words" role="status">
          {words}
        </p>
      )}
      {children}
    </section>
  );
}

/** Events as marks above the slider: user actions are higher. */
function Marks({ moments, end_s }: { moments: readonly Mark[]; end_s: number }) {
  if (end_s === 0) return null;
  const every = Math.ceil(moments.length / MAX_MARKS);
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
