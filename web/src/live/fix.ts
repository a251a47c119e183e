/** Trying what a diagnosis recommends: lines at nodes at once, fields of the study in its text. */

import type { Advice } from "../api/types";
import { change } from "../documents/change";
import { setFlowField } from "../documents/edits/flows";
import { EditError } from "../documents/yaml/draft";
import { startRun } from "./launch";

/** Whether there is anything to try. */
export function hasFix({ lines, study }: Advice): boolean {
  return lines.length > 0 || study.length > 0;
}

/**
 * Try it, and run again: the lines where there are some, else what belongs into the study.
 *
 * Lines are run before the flows start; a change of the study is a step of undo.
 */
export async function tryFix(documentId: string, flow: string, { lines, study }: Advice): Promise<void> {
  if (lines.length === 0 && !changeStudy(documentId, flow, study)) return;
  await startRun(documentId, { lines });
}

/** Set fields of a flow in the text of the study; false where that could not be done: the person has been told. */
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
