/** The drawing of a document: parsed once for each text. */

import { readDrawing } from "./drawing";
import type { Drawing } from "./drawing";
import type { StudyDocument } from "./model";

const KEPT = 6;
const kept: { text: string; chosenCase: string | null; drawing: Drawing }[] = [];

export function drawingOf({ text, chosenCase }: Pick<StudyDocument, "text" | "chosenCase">): Drawing {
  const known = kept.find((one) => one.text === text && one.chosenCase === chosenCase);
  if (known !== undefined) return known.drawing;
  const drawing = readDrawing(text, chosenCase);
  kept.unshift({ text, chosenCase, drawing });
  kept.length = Math.min(kept.length, KEPT);
  return drawing;
}
