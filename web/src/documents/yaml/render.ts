/** Values as YAML, in the way study files are written: `{rate: 1gbit, delay: 20ms}`. */

import { isScalar, isSeq, parseDocument } from "yaml";
import type { Value } from "./source";

/**
 * In flow style, on one line.
 *
 * A mapping's entry without a value is `{bulk: }`.
 */
export function renderFlow(value: Value): string {
  if (value === null) return "";
  if (typeof value === "string") return renderScalar(value);
  if (Array.isArray(value)) return `[${value.map((item) => (item === null ? '""' : renderFlow(item))).join(", ")}]`;
  const entries = Object.entries(value).map(([key, item]) => renderEntry(key, item));
  return `{${entries.join(", ")}}`;
}

export function renderEntry(key: string, value: Value): string {
  return `${renderScalar(key)}: ${renderFlow(value)}`;
}

/**
 * The text after `key:`, with its first levels in block style.
 *
 * Parameters: `levels`, how many levels have one line per entry; `indent`, of the key.
 * Returns text that begins with a space or a line's end.
 */
export function renderBehindColon(value: Value, levels: number, indent: string): string {
  if (value === null) return "";
  const count = typeof value === "string" ? 0 : Object.keys(value).length;
  if (levels === 0 || count === 0 || typeof value === "string") return ` ${renderFlow(value)}`;
  const inner = `${indent}  `;
  if (Array.isArray(value)) return value.map((item) => `\n${inner}- ${renderFlow(item)}`).join("");
  return Object.entries(value)
    .map(([key, item]) => `\n${inner}${renderScalar(key)}:${renderBehindColon(item, levels - 1, inner)}`)
    .join("");
}

/** Plain if that parses as the same text in any context; else in double quotes. */
export function renderScalar(text: string): string {
  if (text === "" || text.trim() !== text || /[\n\r\t]/.test(text)) return JSON.stringify(text);
  const inList = readBack(`[${text}]`);
  const inMapping = readBack(`[{k: ${text}}]`, true);
  return inList === text && inMapping === text ? text : JSON.stringify(text);
}

function readBack(text: string, nested = false): string | null {
  const tree = parseDocument(text, { schema: "failsafe", logLevel: "silent" });
  if (tree.errors.length > 0 || !isSeq(tree.contents) || tree.contents.items.length !== 1) return null;
  const item = tree.getIn(nested ? [0, "k"] : [0], true);
  const hasComment = tree.comment !== null && tree.comment !== undefined;
  return isScalar(item) && typeof item.value === "string" && !hasComment ? item.value : null;
}
