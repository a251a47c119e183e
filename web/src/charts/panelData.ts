/** The readings of a chart of finished runs. */

import type { PanelData, PanelLine } from "../api/types";
import { scaleFor, formatQuantity, unitOf } from "../live/quantities";
import type { StyleIndex } from "./lineStyles";

/** A constant to compare with, in the order of the panel. */
export interface PanelReference {
  text: string;
  /** Null if it is so far above the data that these would be flattened. */
  at: number | null;
}

/** A multiple of the data; references above it are listed and not drawn. */
const FAR = 4;
const ROOM_ABOVE = 1.08;

/** The greatest value of a panel's lines, their bands included. */
export function largestOf(panel: PanelData): number {
  let largest = 0;
  for (const { values, high } of panel.lines) {
    for (const value of high ?? values) if (value !== null && value > largest) largest = value;
  }
  return largest;
}

export function referencesOf(panel: PanelData): PanelReference[] {
  const largest = largestOf(panel);
  // Without any value a reference is all that the axis can show.
  const hasValues = panel.lines.some(({ values }) => values.some((value) => value !== null));
  return panel.references.map(({ label, value }) => {
    const isFar = hasValues && value > FAR * largest;
    const text = `${label} ${formatQuantity(value, unitOf(panel.unit))}`;
    return isFar ? { text: `${text}, far above`, at: null } : { text, at: value };
  });
}

/** Where the axis of the values ends. */
export function topOf(panel: PanelData): number {
  const near = referencesOf(panel).flatMap(({ at }) => at ?? []);
  return Math.max(largestOf(panel), ...near) * ROOM_ABOVE || 1;
}

/** The unit beside the title. */
export function axisUnitOf(panel: PanelData): string {
  return panel.counted !== "" ? panel.counted : scaleFor(topOf(panel), unitOf(panel.unit)).unit;
}

/** What a line reads at a time: its nearest sample, or the last one where a value stays. */
export function readingOf(line: PanelLine, time: number, panel: PanelData): string | null {
  const missing = nearest(line.missing_s, time);
  const at = line.steps ? lastAt(line.times_s, time) : nearest(line.times_s, time);
  if (missing !== null && (at === null || distance(line.missing_s, missing, time) < distance(line.times_s, at, time))) {
    return "no reply";
  }
  const value = at === null ? null : line.values[at];
  if (at === null || value === null || value === undefined) return null;
  const format = (number: number | null | undefined) =>
    panel.counted === "" ? formatQuantity(number, unitOf(panel.unit)) : `${Math.round(number ?? 0).toLocaleString("en-US")} ${panel.counted}`;
  if (line.low === null || line.high === null) return format(value);
  return `${format(value)} (5-95 %: ${format(line.low[at])} to ${format(line.high[at])})`;
}

/** A time of a reading, with digits according to the visible range. */
export function formatTime(time: number, span: number): string {
  const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(span / 500))));
  return `${time.toFixed(digits)} s`;
}

/** A name in a legend. */
export interface LegendName {
  label: string;
  style_index: StyleIndex;
  /** It is drawn as single points. */
  isDots: boolean;
  /** Its line has no dashes. */
  isSolid: boolean;
}

/** The names of panels' lines: equal styles are the same flow or interface, and its shortest name fits all panels. */
export function legendOf(panels: readonly PanelData[]): LegendName[] {
  const found = new Map<StyleIndex, LegendName>();
  for (const { style_index, label, dense, dots } of panels.flatMap(({ lines }) => lines)) {
    const known = found.get(style_index);
    if (label === "" || (known !== undefined && known.label.length <= label.length)) continue;
    found.set(style_index, { label, style_index, isDots: dots, isSolid: dense });
  }
  return [...found.values()];
}

/** The index of the nearest time; null for an empty list. Times are sorted. */
export function nearest(times: ArrayLike<number>, time: number): number | null {
  const before = lastAt(times, time);
  if (before === null) return times.length > 0 ? 0 : null;
  if (before + 1 >= times.length) return before;
  return distance(times, before + 1, time) < distance(times, before, time) ? before + 1 : before;
}

/** The index of the last time that is not later. */
function lastAt(times: ArrayLike<number>, time: number): number | null {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : low - 1;
}

function distance(times: ArrayLike<number>, at: number, time: number): number {
  return Math.abs((times[at] ?? 0) - time);
}

