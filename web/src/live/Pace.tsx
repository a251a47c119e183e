/** The pace of virtual time: a slider and a field for the same factor. */

import { useEffect, useState } from "react";

import type { PaceChoice } from "../api/types";
import { PLACES, paceAt, placeOf, readPace, formatPace } from "./pace";

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
