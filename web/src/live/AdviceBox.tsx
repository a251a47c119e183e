/** What limited a flow, the evidence, and recommended commands. */

import { useState } from "react";
import type { Advice, Fix, SetupLine, StudyValue } from "../api/types";

export interface Typing {
  nodes: string[];
  text: string;
}

/** One typing for each node; nodes with the same commands share one. */
export function typingsOf(lines: readonly SetupLine[]): Typing[] {
  const byNode = new Map<string, string[]>();
  for (const { node, line } of lines) byNode.set(node, [...(byNode.get(node) ?? []), line]);
  const byText = new Map<string, string[]>();
  for (const [node, typed] of byNode) {
    const text = `${typed.join("\n")}\n`;
    byText.set(text, [...(byText.get(text) ?? []), node]);
  }
  return [...byText].map(([text, nodes]) => ({ nodes, text }));
}

/** The same for the clipboard: a comment with the nodes before their commands. */
export function formatLines(lines: readonly SetupLine[]): string {
  return typingsOf(lines)
    .map(({ nodes, text }) => `# ${nodes.join(", ")}\n${text}`)
    .join("");
}

interface Actions {
  /** Types commands at nodes; absent if no network is running. */
  onType?: (typings: Typing[]) => void;
  /** Changes the flow in the study; absent if none is open. */
  onStudy?: (fields: StudyValue[]) => void;
}

export function AdviceBox({ advice, ...actions }: Actions & { advice: Advice }) {
  const { verdict, notes, fixes } = advice;
  return (
    <div className="advice">
      <p>
        <strong>{verdict}</strong>
      </p>
      {fixes.map((fix, rank) => (
        <FixBox key={JSON.stringify(fix)} fix={fix} isAlternative={rank > 0} {...actions} />
      ))}
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

/** What a fix takes from other flows, as a sentence; empty if it takes nothing. */
export function costOf({ takes_from }: Fix): string {
  return takes_from.length === 0 ? "" : `Takes bandwidth from ${takes_from.join(", ")}.`;
}

function FixBox({ fix, isAlternative, onType, onStudy }: Actions & { fix: Fix; isAlternative: boolean }) {
  const [done, setDone] = useState<"typed" | "copied" | "changed" | null>(null);
  const { lines, study } = fix;
  return (
    <>
      {(isAlternative || fix.takes_from.length > 0) && <p>{[isAlternative ? "Or:" : "", costOf(fix)].filter((part) => part !== "").join(" ")}</p>}
      {lines.length > 0 && (
        <>
          <pre className="advice-lines">{formatLines(lines)}</pre>
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
                Type these commands
              </button>
            )}
            <button
              type="button"
              className="small-button"
              onClick={() =>
                void navigator.clipboard.writeText(formatLines(lines)).then(
                  () => setDone("copied"),
                  () => setDone(null),
                )
              }
            >
              Copy
            </button>
            <span role="status">{done === "typed" ? "Typed: run again to compare." : done === "copied" ? "Copied." : ""}</span>
          </div>
        </>
      )}
      {study.length > 0 && (
        <>
          <p>In the study, under the flow:</p>
          <pre className="advice-lines">{study.map(({ field, value }) => `${field}: ${value}\n`).join("")}</pre>
          {onStudy !== undefined && (
            <div className="tool-row" style={{ padding: "0 0 4px" }}>
              {study.map((one) => (
                <button
                  key={one.field}
                  type="button"
                  className="small-button"
                  onClick={() => {
                    onStudy([one]);
                    setDone("changed");
                  }}
                >
                  Set {one.field}: {one.value}
                </button>
              ))}
              <span role="status">{done === "changed" ? "Changed: run again to compare." : ""}</span>
            </div>
          )}
        </>
      )}
    </>
  );
}
