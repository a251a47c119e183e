/** A study's own fields, and its cases. */

import { edited } from "../yaml/edited";
import type { Path } from "../yaml/source";
import { before } from "./common";

export type StudyField = "title" | "kernel" | "seed";

export function setStudyField(text: string, field: StudyField, value: string | null): string {
  return edited(text, (draft) => {
    if (value === null) draft.remove([field]);
    else draft.set([field], value, { after: before(field) });
    if (field === "kernel" && value !== null) quoteKernel(draft);
  });
}

/** A field of the network as a whole, such as `frames`; null takes it away. */
export function setNetworkField(text: string, networkPath: Path, key: string, value: string | null): string {
  return edited(text, (draft) => {
    if (value === null) draft.remove([...networkPath, key]);
    else draft.set([...networkPath, key], value);
  });
}

/** `kernel: "6.10"`, so that other programs do not read a number. */
function quoteKernel(draft: Parameters<Parameters<typeof edited>[1]>[0]): void {
  const range = /^kernel:[ \t]*([0-9.]+)/m.exec(draft.text);
  if (range?.[1] === undefined) return;
  const from = range.index + range[0].length - range[1].length;
  draft.splice([{ from, to: from + range[1].length, insert: `"${range[1]}"` }]);
}

const EMPTY = `\nkernel: "6.1"\n\nnetwork:\n  hosts: []\n  switches: []\n  links: []\n`;

/** A new document: a study without a network yet. */
export function newStudyText(title: string): string {
  return `title: ${title}${EMPTY}`;
}

/** Whether a text is that of a new document still. */
export function isNewStudyText(text: string): boolean {
  return /^title: .*/.exec(text)?.[0] === text.slice(0, -EMPTY.length) && text.endsWith(EMPTY);
}
