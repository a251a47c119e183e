/** Labels of links and flows: properties as typed, with the units spelt out. */

import type { FieldInfo } from "../api/types";
import { effective } from "../documents/drawing";
import type { DrawnFlow, DrawnLink, Properties } from "../documents/drawing";
import { formatQuantity } from "../live/quantities";
import { sizeText } from "../properties/sizes";

const RATES: Record<string, string> = { "": "bit/s", k: "kbit/s", m: "Mbit/s", g: "Gbit/s", t: "Tbit/s" };

/** `10gbit` as `10 Gbit/s`; anything else is left as it is. */
export function spelt(quantity: string): string {
  const text = quantity.trim();
  const rate = /^([\d.]+)\s*([kmgt]?)bits?(?:\/s(?:ec)?)?$/i.exec(text);
  if (rate !== null) return `${rate[1] ?? ""} ${RATES[(rate[2] ?? "").toLowerCase()] ?? "bit/s"}`;
  const other = /^([\d.]+)\s*([a-z%]+)$/i.exec(text);
  return other === null ? text : `${other[1] ?? ""} ${other[2] ?? ""}`;
}

/** `26214400` as `25 MB`, human-readable; the prefixes are powers of 1024, as in a study. */
export function speltSize(quantity: string): string {
  const text = quantity.trim();
  return /^\d+$/.test(text) ? sizeText(Number(text)) : spelt(text);
}

/** The approximate width of a letter of a label, in pixels. */
const LETTER = 6;

const SEPARATOR = " · ";

/**
 * One line for both directions, or one for each where they differ, of the phrases that the
 * fields of a direction declare: `fields` of the server's state.
 */
export function linkLabel(link: DrawnLink, fields: readonly FieldInfo[]): string[] {
  const [there, back] = ([0, 1] as const).map((direction) => phrases(effective(link, direction), fields).join(SEPARATOR));
  if (there === back) return there === undefined || there === "" ? [] : [there];
  return [
    ...(there ? [`to ${link.ends[1]}: ${there}`] : []),
    ...(back ? [`to ${link.ends[0]}: ${back}`] : []),
  ];
}

/** A label broken into more lines where there is less room, in pixels. */
export function wrapLabel(lines: readonly string[], width: number): string[] {
  return lines.flatMap((line) => wrapped(line, Math.max(width, 60) / LETTER));
}

function wrapped(line: string, letters: number): string[] {
  const lines: string[] = [];
  for (const part of line.split(SEPARATOR)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + SEPARATOR.length + part.length <= letters) lines[lines.length - 1] = last + SEPARATOR + part;
    else lines.push(part);
  }
  return lines;
}

function phrases(properties: Properties, fields: readonly FieldInfo[]): string[] {
  const found: string[] = [];
  for (const field of fields) {
    const typed = properties[field.key];
    if (!typed || field.phrase === "") continue;
    const phrase = field.phrase.replace("{}", () => shownValue(field, typed));
    // One that begins with a blank belongs to the one before it.
    if (phrase.startsWith(" ") && found.length > 0) found.push((found.pop() ?? "") + phrase);
    else found.push(phrase.trim());
  }
  return found;
}

function shownValue({ unit, shown }: FieldInfo, typed: string): string {
  if (unit === "bytes") return speltSize(typed);
  if (unit !== "") return spelt(typed);
  if (shown === "word") return typed.trim().split(/\s/)[0] ?? "";
  return shown === "name" ? (typed.split("/").at(-1) ?? "") : typed;
}

export function flowLabel(flow: DrawnFlow): string {
  return flow.tool === "iperf3" || flow.name.startsWith(flow.tool) ? flow.name : `${flow.name} (${flow.tool})`;
}

/** Three digits, such as `9.41 Gbit/s`. */
export function rateText(rate_bps: number): string {
  return formatQuantity(rate_bps, "bit/s");
}
