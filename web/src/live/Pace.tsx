/** The pace of virtual time: a slider and a field for the same factor. */

import { useEffect, useState } from "react";
import type { PaceChoice } from "../api/types";

export const PLACES = 101;
const SLOWEST = 0.001;
const FASTEST = 100;
const DECADES = Math.log10(FASTEST / SLOWEST);

/** The factor at a position of the slider. */
export function paceAt(place: number): number | "max" {
  if (place >= PLACES) return "max";
  const exact = SLOWEST * 10 ** ((DECADES * place) / (PLACES - 1));
  return Number(exact.toPrecision(exact >= 0.1 ? 2 : 1));
}

/** The position nearest to a factor. */
export function placeOf(factor: PaceChoice): number {
  if (factor === null || factor === "max") return PLACES;
  const clipped = Math.min(FASTEST, Math.max(SLOWEST, factor));
  return Math.round(((PLACES - 1) * Math.log10(clipped / SLOWEST)) / DECADES);
}

/** A pace as text: `0.5x`, `max` or `auto`. */
export function formatPace(factor: PaceChoice): string {
  if (factor === null) return "auto";
  return factor === "max" ? "max" : `${Number(factor.toPrecision(3))}x`;
}

/**
 * Read a typed pace: `0.5`, `0.5x`, `1/20`, `50%`, `max` or `auto`.
 *
 * @returns undefined if it is invalid, or not between 0.001 and 1000.
 */
export function readPace(text: string): PaceChoice | undefined {
  const word = text.trim().toLowerCase().replace(",", ".");
  if (word === "" || word === "auto") return null;
  if (word === "max" || word === "∞") return "max";
  const ratio = /^([\d.]+)\s*\/\s*([\d.]+)\s*x?$/.exec(word);
  const single = /^([\d.]+)\s*(x|×|%)?$/.exec(word);
  let factor = Number.NaN;
  if (ratio !== null) factor = Number(ratio[1]) / Number(ratio[2]);
  else if (single !== null) factor = Number(single[1]) / (single[2] === "%" ? 100 : 1);
  return factor >= SLOWEST && factor <= 1000 ? factor : undefined;
}

interface PaceProps {
  pace: PaceChoice;
  disabled: boolean;
  onPace: (factor: PaceChoice) => void;
}

export function Pace({ pace, disabled, onPace }: PaceProps) {
  const [place, setPlace] = useState(placeOf(pace));
  const [typed, setTyped] = useState<string | null>(null);
  const wrong = typed !== null && readPace(typed) === undefined;

  useEffect(() => setPlace(placeOf(pace)), [pace]);

  const take = () => {
    if (typed === null || wrong) return;
    const factor = readPace(typed);
    if (factor !== undefined) onPace(factor);
    setTyped(null);
  };

  return (
    <div className="clock-pace" role="group" aria-label="Pace of virtual time">
      <label className="clock-label" title="The maximum number of virtual seconds per second of real time">
        Pace
        <input
          type="range"
          min={0}
          max={PLACES}
          step={1}
          value={place}
          disabled={disabled}
          aria-label="Pace, from 0.001 times real time to as fast as possible"
          aria-valuetext={valueText(place, pace)}
          onChange={(event) => {
            const next = Number(event.target.value);
            setPlace(next);
            setTyped(null);
            onPace(paceAt(next));
          }}
        />
      </label>
      <input
        type="text"
        className="clock-pace-text"
        value={typed ?? formatPace(pace)}
        disabled={disabled}
        aria-label="Pace, typed"
        aria-invalid={wrong}
        title={wrong ? "A pace is a number from 0.001 to 1000, such as 0.5 or 1/20, or max or auto" : "Such as 0.5x, 1/20, max, or auto: real time while a typed command runs, else as fast as possible"}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => (wrong ? setTyped(null) : take())}
        onKeyDown={(event) => {
          if (event.key === "Enter") take();
          if (event.key === "Escape") setTyped(null);
        }}
      />
    </div>
  );
}

function valueText(place: number, pace: PaceChoice): string {
  if (place < PLACES) return `${formatPace(paceAt(place))} real time`;
  return pace === null ? "automatic" : "as fast as possible";
}
