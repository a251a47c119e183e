/** Why Run is disabled, for its tooltip; null if it is enabled. */

import type { StudyDocument } from "../documents/model";
import { isUntouched } from "../documents/store";

export function whyNoRun(document: StudyDocument, chosen: string | null): string | null {
  const { check } = document;
  if (check === null) return "The drawing is being checked";
  if (isUntouched(document)) return "There is no network yet: place hosts and switches, link them, and draw a flow";
  const count = check.problems.length;
  if (count > 0) return count === 1 ? "The text has a problem: see the list" : `The text has ${count} problems: see the list`;
  const cases = check.study?.cases ?? [];
  const one = cases.find((each) => each.name === chosen) ?? cases[0];
  if (one === undefined || one.flows.length === 0) {
    return "There are no flows yet: draw one from host to host with the Flow tool (F)";
  }
  return null;
}
