/** The problems that the server found in the text: a click goes to the position. */

import type { Problem, RepairEdit } from "../api/types";
import { change } from "../documents/change";
import { applyEdits, assignedBy } from "../documents/edits/repair";
import type { StudyDocument } from "../documents/model";
import { noteAutomatic } from "../documents/propose";
import { isUntouched } from "../documents/store";
import { drawingOf } from "../documents/useDrawing";
import { isInside, problemsAt } from "../properties/problems";
import { notify } from "./notices";
import { useUi } from "./ui";

export function ProblemsList({ document }: { document: StudyDocument }) {
  const problems = reportedProblems(document);
  // A lab leaves parts undone on purpose.
  const isOwn = document.lab === null && !isUntouched(document);
  const warnings = isOwn ? (document.check?.warnings ?? []) : [];
  const repair = isOwn ? (document.check?.repair ?? []) : [];
  return (
    <section className={problems.length + warnings.length === 0 ? "problems problems-none" : "problems"} aria-label="Problems" aria-live="polite">
      {problems.length > 0 && <h2>{problems.length === 1 ? "A problem" : `${problems.length} problems`}</h2>}
      <ul>
        {problems.map((problem) => (
          <li key={`${problem.line}.${problem.column}.${problem.message}`}>
            <button type="button" onClick={() => goTo(document, problem)} title="Go there in the text">
              {problem.line !== null && <span className="problem-line">line {problem.line}</span>}
              <span>
                {problem.field !== "" && <code>{problem.field}</code>} {problem.message}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {warnings.length > 0 && (
        <ul aria-label="Warnings" className="problem-warnings">
          {warnings.map((problem) => (
            <li key={`${problem.line}.${problem.message}`}>
              <button type="button" onClick={() => goTo(document, problem)} title="Go there in the text">
                {problem.line !== null && <span className="problem-line">line {problem.line}</span>}
                <span>{problem.message}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {repair.length > 0 && (
        <p className="problem-repair">
          <button type="button" className="small" title={repair.map(({ words }) => words).join("\n")} onClick={() => applyRepair(document, repair)}>
            Fix addresses and routes
          </button>
        </p>
      )}
    </section>
  );
}

/** One undo step; the changes are reported. */
function applyRepair(document: StudyDocument, repair: readonly RepairEdit[]): void {
  if (!change(document.id, (text, { networkPath }) => applyEdits(text, networkPath, repair))) return;
  noteAutomatic(document.id, assignedBy(repair));
  notify("info", `${repair.map(({ words }) => words).join("; ")}.`);
}

/** An empty page is not an error: the canvas shows what to do, and Run why it is disabled. */
function reportedProblems(document: StudyDocument): Problem[] {
  const problems = document.check?.problems ?? [];
  return isUntouched(document) ? [] : problems;
}

function goTo(document: StudyDocument, problem: Problem): void {
  const drawing = drawingOf(document);
  const { nodes, links } = problemsAt({ problems: [problem] }, drawing);
  const flow = drawing.flows.find((one) => isInside(problem.field, one.path.join(".")));
  const { select, set, goToLine } = useUi.getState();
  if (nodes.size + links.size > 0) select({ nodes, links });
  else if (flow !== undefined) select({ flows: new Set([flow.name]) });
  if (problem.line === null) return;
  set({ rightTab: "yaml" });
  goToLine(problem.line, { column: problem.column ?? 1, focus: true });
}
