/** Applies a diagnosis's recommendation: commands at nodes, or fields of the study in its text. */

import type { Advice, Fix, StudyValue } from "../api/types";
import { change } from "../documents/change";
import { setFlowField } from "../documents/edits/flows";
import { EditError } from "../documents/yaml/draft";
import { startRun } from "./launch";

/** The fix to try: the recommended one; undefined if there is none. */
export function fixOf({ fixes }: Advice): Fix | undefined {
  return fixes[0];
}

/**
 * Applies a fix, and runs again.
 *
 * Commands are run before the flows start; a change of the study is an undo step.
 */
export async function tryFix(documentId: string, flow: string, { lines, study }: Fix): Promise<void> {
  if (study.length > 0 && !changeStudy(documentId, flow, study)) return;
  await startRun(documentId, { lines });
}

/** Set fields of a flow in the text of the study; returns false if that failed, which was reported. */
export function changeStudy(documentId: string, flow: string, fields: readonly StudyValue[]): boolean {
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
