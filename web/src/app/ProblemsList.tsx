/** What the server says is wrong with the text: a click goes there. */

import type { Problem } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { isUntouched } from "../documents/store";
import { drawingOf } from "../documents/useDrawing";
import { isInside, problemsAt } from "../properties/problems";
import { useUi } from "./ui";

export function ProblemsList({ document }: { document: StudyDocument }) {
  const problems = worthTelling(document);
  return (
    <section className={problems.length === 0 ? "problems problems-none" : "problems"} aria-label="Problems" aria-live="polite">
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
    </section>
  );
}

/** An empty page is no mistake: the canvas says what to do, and Run why it cannot be pressed. */
function worthTelling(document: StudyDocument): Problem[] {
  const problems = document.check?.problems ?? [];
  return isUntouched(document) ? [] : problems;
}

function goTo(document: StudyDocument, problem: Problem): void {
  const drawing = drawingOf(document);
  const { nodes, links } = problemsAt({ problems: [problem], study: null }, drawing);
  const flow = drawing.flows.find((one) => isInside(problem.field, one.path.join(".")));
  const { select, set, goToLine } = useUi.getState();
  if (nodes.size + links.size > 0) select({ nodes, links });
  else if (flow !== undefined) select({ flows: new Set([flow.name]) });
  if (problem.line === null) return;
  set({ rightTab: "yaml" });
  goToLine(problem.line, { column: problem.column ?? 1, focus: true });
}
