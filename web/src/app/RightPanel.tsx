/** The panel at the right: properties, text, lab and results; problems at its foot. */

import { useEffect, useRef } from "react";
import type { KeyboardEvent } from "react";
import type { Problem, RepairEdit } from "../api/types";
import { change } from "../documents/change";
import { applyEdits } from "../documents/edits/repair";
import type { StudyDocument } from "../documents/model";
import { isUntouched } from "../documents/store";
import { drawingOf } from "../documents/useDrawing";
import { YamlEditor } from "../editor/YamlEditor";
import { ResultsPanel } from "../jobs/ResultsPanel";
import { LabPanel } from "../labs/LabPanel";
import { PropertiesPanel } from "../properties/PropertiesPanel";
import { isInside, problemsAt } from "../properties/problems";
import { notify } from "./notices";
import { useUi } from "./ui";
import type { RightTab } from "./ui";

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

const LABELS: Record<RightTab, string> = { properties: "Properties", yaml: "YAML", lab: "Lab", results: "Results" };
const MIN = 280;

export function RightPanel({ document }: { document: StudyDocument }) {
  const { rightTab, rightWidth, set } = useUi();
  const tabs: RightTab[] = document.lab === null ? ["properties", "yaml", "results"] : ["lab", "properties", "yaml", "results"];
  const tab = tabs.includes(rightTab) ? rightTab : "properties";
  useEffect(() => {
    // A lab opens with its text shown.
    if (document.lab !== null) useUi.getState().set({ rightTab: "lab", narrow: "panel" });
    else if (useUi.getState().rightTab === "lab") useUi.getState().set({ rightTab: "properties" });
  }, [document.id, document.lab]);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    set({ rightTab: next });
    event.currentTarget.querySelector<HTMLElement>(`#right-tab-${next}`)?.focus();
  };

  return (
    <aside className="right-panel" style={{ width: rightWidth }} aria-label="Properties and text">
      <Splitter />
      <div role="tablist" aria-label="Panel" className="panel-tabs" onKeyDown={onKeyDown}>
        {tabs.map((one) => (
          <button
            key={one}
            id={`right-tab-${one}`}
            type="button"
            role="tab"
            aria-selected={tab === one}
            aria-controls="right-body"
            tabIndex={tab === one ? 0 : -1}
            onClick={() => set({ rightTab: one })}
          >
            {LABELS[one]}
          </button>
        ))}
      </div>
      <div id="right-body" className="right-body" role="tabpanel" aria-labelledby={`right-tab-${tab}`} tabIndex={-1}>
        {tab === "properties" && <PropertiesPanel document={document} />}
        {tab === "yaml" && <YamlEditor document={document} />}
        {tab === "lab" && <LabPanel document={document} />}
        {tab === "results" && <ResultsPanel document={document} />}
      </div>
      <ProblemsList document={document} />
    </aside>
  );
}

/** The panel's left edge: drag it, or use the arrow keys. */
function Splitter() {
  const { rightWidth, set } = useUi();
  const start = useRef<{ x: number; width: number } | null>(null);
  const widen = (width: number) => set({ rightWidth: Math.round(Math.max(MIN, Math.min(width, window.innerWidth * 0.6))) });
  return (
    <div
      className="right-splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={rightWidth}
      aria-valuemin={MIN}
      tabIndex={0}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width: rightWidth };
      }}
      onPointerMove={(event) => {
        if (start.current !== null) widen(start.current.width + start.current.x - event.clientX);
      }}
      onPointerUp={() => (start.current = null)}
      onPointerCancel={() => (start.current = null)}
      onKeyDown={(event) => {
        const by = event.key === "ArrowLeft" ? 20 : event.key === "ArrowRight" ? -20 : 0;
        if (by === 0) return;
        event.preventDefault();
        widen(rightWidth + by);
      }}
    />
  );
}
