/** Applies a diagnosis's recommendation: commands at nodes, or fields of the study in its text. */

import type { Advice } from "../api/types";
import { change } from "../documents/change";
import { setFlowField } from "../documents/edits/flows";
import { EditError } from "../documents/yaml/draft";
import { startRun } from "./launch";

/** Whether there is a fix to apply. */
export function hasFix({ lines, study }: Advice): boolean {
  return lines.length > 0 || study.length > 0;
}

/**
 * Applies the fix, and runs again: the commands if there are any, else the fields of the study.
 *
 * Commands are run before the flows start; a change of the study is an undo step.
 */
export async function tryFix(documentId: string, flow: string, { lines, study }: Advice): Promise<void> {
  if (lines.length === 0 && !changeStudy(documentId, flow, study)) return;
  await startRun(documentId, { lines });
}

/** Set fields of a flow in the text of the study; returns false if that failed, which was reported. */
export function changeStudy(documentId: string, flow: string, fields: Advice["study"]): boolean {
  return change(documentId, (text, drawing) => {
    let next = text;
    for (const { field, value } of fields) {
      const drawn = drawing.flows.find(({ name }) => name === flow);
      if (drawn === undefined) throw new EditError(`There is no flow ${flow} in the drawing any more.`);
      next = setFlowField(next, drawn, field, value);
    }
    return next;
  });
}
