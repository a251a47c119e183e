/** The panel at the right: properties, text, lab and results; problems at its foot. */

import type { KeyboardEvent } from "react";
import { useEffect, useRef } from "react";
import { ResultsPanel } from "../jobs/ResultsPanel";
import { LabPanel } from "../labs/LabPanel";
import type { StudyDocument } from "../documents/model";
import { YamlEditor } from "../editor/YamlEditor";
import { PropertiesPanel } from "../properties/PropertiesPanel";
import { ProblemsList } from "./ProblemsList";
import type { RightTab } from "./ui";
import { useUi } from "./ui";

const LABELS: Record<RightTab, string> = { properties: "Properties", yaml: "YAML", lab: "Lab", results: "Results" };
const LEAST = 280;

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
  const widen = (width: number) => set({ rightWidth: Math.round(Math.max(LEAST, Math.min(width, window.innerWidth * 0.6))) });
  return (
    <div
      className="right-splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the panel"
      aria-valuenow={rightWidth}
      aria-valuemin={LEAST}
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
