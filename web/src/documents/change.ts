/** Applies an edit to a document: an edit that fails is reported, and the text stays. */

import { errorMessage } from "../api/client";
import { notify } from "../app/notices";
import type { Drawing } from "./drawing";
import type { StudyDocument } from "./model";
import { useDocuments } from "./store";
import { drawingOf } from "./useDrawing";
import { EditError } from "./yaml/draft";

/**
 * Applies an edit as one undo step.
 *
 * Parameters: `edit`, from the text and its drawing to a new text; `joins`, whether it
 * continues the step before. Returns false if it failed, which was reported.
 */
export function change(
  documentId: string,
  edit: (text: string, drawing: Drawing) => string,
  { joins = false }: { joins?: boolean } = {},
): boolean {
  const document = documentOf(documentId);
  if (document === null) return false;
  try {
    const text = edit(document.text, drawingOf(document));
    useDocuments.getState().setText(documentId, text, { joins });
    return true;
  } catch (error) {
    notify("error", error instanceof EditError ? error.message : `This change failed. ${errorMessage(error)}`);
    return false;
  }
}

export function documentOf(id: string): StudyDocument | null {
  return useDocuments.getState().documents.find((one) => one.id === id) ?? null;
}
