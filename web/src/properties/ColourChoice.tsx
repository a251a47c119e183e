/** The colour of nodes, a note or a group: few choices, distinguishable in both themes. */

import { COLOURS } from "../canvas/decor";

interface ColourChoiceProps {
  /** The common colour; null is the default, undefined if they differ. */
  value: string | null | undefined;
  commit: (colour: string | null) => void;
}

export function ColourChoice({ value, commit }: ColourChoiceProps) {
  return (
    <div className="colours" role="group" aria-label="Colour">
      {[null, ...COLOURS].map((colour) => (
        <button
          key={colour ?? "none"}
          type="button"
          className={`colour${colour === null ? "" : ` mark-${colour}`}`}
          aria-label={colour ?? "no colour"}
          title={colour ?? "no colour"}
          aria-pressed={value === colour}
          onClick={() => commit(colour)}
        />
      ))}
    </div>
  );
}
