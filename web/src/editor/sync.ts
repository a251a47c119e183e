/** Synchronises the editor and the document. */

import type { ChangeSpec } from "@codemirror/state";

/** The smallest replacement that turns one text into the other; null if they are equal. */
export function leastChange(now: string, wanted: string): (ChangeSpec & { from: number; to: number; insert: string }) | null {
  if (now === wanted) return null;
  let from = 0;
  const shorter = Math.min(now.length, wanted.length);
  while (from < shorter && now[from] === wanted[from]) from++;
  let end = 0;
  while (end < shorter - from && now[now.length - 1 - end] === wanted[wanted.length - 1 - end]) end++;
  return { from, to: now.length - end, insert: wanted.slice(from, wanted.length - end) };
}
