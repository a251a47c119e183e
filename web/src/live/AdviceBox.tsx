/** What limited a flow, the evidence, and lines that would help. */

import { useState } from "react";

import type { Advice } from "../api/types";
import { tellLines, typingsOf } from "./advice";
import type { Typing } from "./advice";

interface AdviceBoxProps {
  advice: Advice;
  /** Types lines at nodes; absent where no network runs. */
  onType?: (typings: Typing[]) => void;
}

export function AdviceBox({ advice, onType }: AdviceBoxProps) {
  const [done, setDone] = useState<"typed" | "copied" | null>(null);
  const { verdict, notes, lines } = advice;
  return (
    <div className="advice">
      <p>
        <strong>{verdict}</strong>
      </p>
      {lines.length > 0 && (
        <>
          <pre className="advice-lines">{tellLines(lines)}</pre>
          <div className="tool-row" style={{ padding: "0 0 4px" }}>
            {onType !== undefined && (
              <button
                type="button"
                className="small-button main"
                onClick={() => {
                  onType(typingsOf(lines));
                  setDone("typed");
                }}
              >
                Type these lines
              </button>
            )}
            <button
              type="button"
              className="small-button"
              onClick={() =>
                void navigator.clipboard.writeText(tellLines(lines)).then(
                  () => setDone("copied"),
                  () => setDone(null),
                )
              }
            >
              Copy
            </button>
            <span role="status">{done === "typed" ? "Typed: run again to see." : done === "copied" ? "Copied." : ""}</span>
          </div>
        </>
      )}
      {notes.length > 0 && (
        <ul>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
