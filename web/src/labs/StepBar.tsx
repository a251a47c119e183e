/** The button below a lab's step: types it where it belongs. */

import { useState } from "react";

import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import type { Step } from "./steps";
import { useTyped } from "./typed";

interface StepBarProps {
  document: StudyDocument;
  step: Step;
  /** Its number in the text, from 0. */
  place: number;
}

export function StepBar({ document, step, place }: StepBarProps) {
  const [busy, setBusy] = useState(false);
  const typed = useTyped((state) => state.steps[`${document.sessionId ?? ""} ${place}`] ?? 0);
  const nodes = step.nodes.join(", ");

  const type = async () => {
    setBusy(true);
    useDock.getState().show("terminals");
    try {
      // By hand means without a case's own set-up: the steps are that set-up.
      const hasCommon = document.check?.study?.network !== null;
      const id = await ensureSession(document.id, hasCommon ? null : undefined);
      if (useLive.getState().send(id, { do: "type", nodes: step.nodes, text: step.text })) {
        useTyped.getState().note(`${id} ${place}`);
      }
    } catch {
      // The clock bar shows why no network runs.
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <button type="button" className="small-button" disabled={busy} onClick={() => void type()}>
        {busy ? "Typing…" : `Type it on ${nodes}`}
      </button>
      <span role="status" className="step-done">
        {typed === 0 ? "" : typed === 1 ? "✓ typed" : `✓ typed ${typed} times`}
      </span>
    </>
  );
}
