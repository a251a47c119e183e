/**
 * The pace, from 0.001x to as fast as possible, as a slider's position and as text.
 *
 * The slider is logarithmic; its last position is "max".
 */

import type { PaceChoice } from "../api/types";

export const PLACES = 101;
const SLOWEST = 0.001;
const FASTEST = 100;
const DECADES = Math.log10(FASTEST / SLOWEST);

/** The factor at a position of the slider. */
export function paceAt(place: number): number | "max" {
  if (place >= PLACES) return "max";
  const exact = SLOWEST * 10 ** ((DECADES * place) / (PLACES - 1));
  return Number(exact.toPrecision(exact >= 0.1 ? 2 : 1));
}

/** The position nearest to a factor. */
export function placeOf(factor: PaceChoice): number {
  if (factor === null || factor === "max") return PLACES;
  const clipped = Math.min(FASTEST, Math.max(SLOWEST, factor));
  return Math.round(((PLACES - 1) * Math.log10(clipped / SLOWEST)) / DECADES);
}

/** A pace as text: `0.5x`, `max` or `auto`. */
export function formatPace(factor: PaceChoice): string {
  if (factor === null) return "auto";
  return factor === "max" ? "max" : `${Number(factor.toPrecision(3))}x`;
}

/**
 * Read a typed pace: `0.5`, `0.5x`, `1/20`, `50%`, `max` or `auto`.
 *
 * @returns undefined if it is invalid, or not between 0.001 and 1000.
 */
export function readPace(text: string): PaceChoice | undefined {
  const word = text.trim().toLowerCase().replace(",", ".");
  if (word === "" || word === "auto") return null;
  if (word === "max" || word === "∞") return "max";
  const ratio = /^([\d.]+)\s*\/\s*([\d.]+)\s*x?$/.exec(word);
  const single = /^([\d.]+)\s*(x|×|%)?$/.exec(word);
  let factor = Number.NaN;
  if (ratio !== null) factor = Number(ratio[1]) / Number(ratio[2]);
  else if (single !== null) factor = Number(single[1]) / (single[2] === "%" ? 100 : 1);
  return factor >= SLOWEST && factor <= 1000 ? factor : undefined;
}
