/** The set-up commands of a node, run before the traffic starts: common to all cases, and of the chosen case. */

import { useState } from "react";
import { change } from "../documents/change";
import type { DrawnSetupLine, Drawing } from "../documents/drawing";
import { addSetupLine, removeSetupLine, setSetupLine } from "../documents/edits/setup";
import type { StudyDocument } from "../documents/model";
import { Field } from "./Field";
import { fieldName } from "./problems";

interface SetupLinesProps {
  document: StudyDocument;
  drawing: Drawing;
  /** The node: a host, or root. */
  node: string;
  /** Which of the node's lines to show; all without it. */
  only?: (line: DrawnSetupLine) => boolean;
}

export function SetupLines({ document, drawing, node, only = () => true }: SetupLinesProps) {
  const [fresh, setFresh] = useState("");
  const all = drawing.setup.filter((line) => line.nodes.includes(node) && only(line));
  const own = document.chosenCase !== null && all.some((line) => line.path[0] === "cases");
  const add = () => {
    const line = fresh.trim();
    if (line !== "" && change(document.id, (text) => addSetupLine(text, node, line))) setFresh("");
  };
  return (
    <section className="group" aria-label={`Set-up lines at ${node}`}>
      <h3>Set-up lines{node === "root" && " at root"}</h3>
      {all
        .filter((line) => line.path[0] === "setup")
        .map((line) => (
          <SetupLine key={line.path.join()} document={document} line={line} node={node} />
        ))}
      <form
        className="line-row"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <input
          type="text"
          className="mono"
          aria-label={`New set-up line at ${node}`}
          placeholder={node === "root" ? "tc qdisc ... dev s1-eth1 ..." : "sysctl -w ..."}
          value={fresh}
          spellCheck={false}
          onChange={(event) => setFresh(event.target.value)}
        />
        <button type="submit" className="small" disabled={fresh.trim() === ""}>
          Add
        </button>
      </form>
      {own && <h4>Only in the case {document.chosenCase}</h4>}
      {own &&
        all
          .filter((line) => line.path[0] === "cases")
          .map((line) => <SetupLine key={line.path.join()} document={document} line={line} node={node} />)}
    </section>
  );
}

function SetupLine({ document, line, node }: { document: StudyDocument; line: DrawnSetupLine; node: string }) {
  const others = line.nodes.filter((other) => other !== node);
  // A line may belong to `[h1, h2]`: the server's field name is that of the entry.
  const problem = document.check?.problems.find((one) => one.line === line.line || one.field === fieldName(line.path))?.message ?? null;
  return (
    <div className="line-row">
      <Field
        label={`Line at ${node}`}
        area
        when="finished"
        value={line.text}
        problem={problem}
        {...(others.length > 0 ? { hint: `Also at ${others.join(", ")}; a change here applies to ${node} only.` } : {})}
        commit={(words) =>
          change(document.id, (text) => (words === "" ? removeSetupLine(text, line, node) : setSetupLine(text, line, node, words)))
        }
      />
      <button
        type="button"
        className="small icon-button"
        aria-label={`Remove the line ${line.text}`}
        title="Remove this line"
        onClick={() => change(document.id, (text) => removeSetupLine(text, line, node))}
      >
        ✕
      </button>
    </div>
  );
}
