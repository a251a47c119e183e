/** A colour for nodes, a note or a group: few, so that all can be told apart in both themes. */

import { COLOURS } from "../canvas/decor";

interface ColourChoiceProps {
  /** The colour of all that is meant; null is the page's own, undefined where they differ. */
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
