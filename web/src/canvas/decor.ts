/** Colours for nodes, notes and groups, and the extent of a group's frame. */

import type { Point } from "./geometry";
import { HALF } from "./geometry";
import type { Box } from "./placement";

/** As named in the study's `drawing`; the style sheet defines each for light and dark. */
export const COLOURS = ["red", "orange", "yellow", "green", "blue", "purple", "grey"] as const;

/** The class that sets `--mark`; empty for the page's own colour. */
export function colourClass(colour: string | null | undefined): string {
  return COLOURS.some((one) => one === colour) ? ` mark-${colour ?? ""}` : "";
}

const MARGIN = 22;
/** Room for a node's name below it, and for the frame's name above the nodes. */
const BELOW = 20;
const ABOVE = 12;

/** The frame around nodes at these positions; null for none. */
export function frameOf(places: readonly Point[]): Box | null {
  if (places.length === 0) return null;
  const xs = places.map(({ x }) => x);
  const ys = places.map(({ y }) => y);
  const x = Math.min(...xs) - HALF - MARGIN;
  const y = Math.min(...ys) - HALF - MARGIN - ABOVE;
  return { x, y, width: Math.max(...xs) + HALF + MARGIN - x, height: Math.max(...ys) + HALF + MARGIN + BELOW - y };
}

/** The approximate size of a note, for fitting the view. */
export function noteSize(text: string): { width: number; height: number } {
  const lines = text.split("\n").flatMap((line) => line.match(/.{1,36}/g) ?? [""]);
  return { width: Math.max(...lines.map((line) => line.length)) * 6.8 + 18, height: lines.length * 17 + 12 };
}
