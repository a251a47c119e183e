/** Trying an edit on a document: what cannot be done is told, and the text stays. */

import { wordsOf } from "../api/client";
import { tell } from "../app/notices";
import type { Drawing } from "./drawing";
import type { Joins } from "./history";
import type { StudyDocument } from "./model";
import { useDocuments } from "./store";
import { drawingOf } from "./useDrawing";
import { EditError } from "./yaml/draft";

/**
 * Makes one step of undo of an edit.
 *
 * Parameters: `edit`, from the text and its drawing to a new text; `joins`, whether it
 * continues the step before. Returns false where it could not be done: the person has been told.
 */
export function change(
  documentId: string,
  edit: (text: string, drawing: Drawing) => string,
  { joins = false }: { joins?: Joins } = {},
): boolean {
  const document = documentOf(documentId);
  if (document === null) return false;
  try {
    const text = edit(document.text, drawingOf(document));
    useDocuments.getState().setText(documentId, text, { joins });
    return true;
  } catch (error) {
    tell("error", error instanceof EditError ? error.message : `This change failed. ${wordsOf(error)}`);
    return false;
  }
}

export function documentOf(id: string): StudyDocument | null {
  return useDocuments.getState().documents.find((one) => one.id === id) ?? null;
}
