/** The button below a lab's step, which types it at its nodes, and the result. */

import { useState } from "react";

import type { StepProgress } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { expectStep, useProgress } from "./progress";
import type { Step } from "./steps";

interface StepBarProps {
  document: StudyDocument;
  step: Step;
}

export function StepBar({ document, step }: StepBarProps) {
  const [busy, setBusy] = useState(false);
  const progress = useProgress((state) => state.labs[document.lab ?? ""]?.steps[step.key]);
  const nodes = step.nodes.join(", ");

  const type = async () => {
    setBusy(true);
    useDock.getState().show("terminals");
    try {
      // By hand means without the cases' set-up: the steps are that set-up.
      const id = await ensureSession(document.id, null);
      expectStep(id, step);
      useLive.getState().send(id, { do: "type", nodes: step.nodes, text: step.text });
    } catch {
      // The clock bar shows why no network runs.
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <button type="button" className="small-button" disabled={busy} onClick={() => void type()}>
        {busy ? "Typing…" : `Type at ${nodes}`}
      </button>
      <StepState progress={progress} count={step.nodes.length * step.lines.length} />
    </>
  );
}

function StepState({ progress, count }: { progress: StepProgress | undefined; count: number }) {
  const failed = progress?.status != null && progress.status !== 0;
  return (
    <span role="status" className={failed ? "step-done step-failed" : "step-done"}>
      {progress === undefined
        ? ""
        : progress.done
          ? "✓ done"
          : failed
            ? `✗ the last command exited with status ${progress.status}`
            : `${progress.good.length} of ${count} lines done`}
    </span>
  );
}
