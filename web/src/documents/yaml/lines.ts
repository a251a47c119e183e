/** Where lines and the items of lists and mappings are in a text. */

import type { Found } from "./source";
import { isList, isMapping } from "./source";

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The indentation of the mapping's lines. */
export function indentOf(text: string, at: number): string {
  return " ".repeat(columnOf(text, at));
}

/** A list's item or a mapping's entry by its number; null where there is none. */
export function itemAt(holder: { items: unknown[] }, index: number): Found | null {
  if (isMapping(holder)) {
    const pair = holder.items[index];
    return pair === undefined ? null : { node: pair.value, pair, parent: holder, index };
  }
  if (!isList(holder)) return null;
  const node = holder.items[index];
  return node === undefined ? null : { node, pair: null, parent: holder, index };
}
