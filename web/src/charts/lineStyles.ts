/**
 * Which colour, dash and mark a line has, the same in all charts and tables.
 *
 * The colours are those of the static figures (`longfat.output.plot.style`): distinguishable
 * with any colour vision, and by their lightness in print. They are defined in
 * series.css, for light and dark. Live charts are dense: their lines have dashes
 * only when the colours are used up. Figures of finished runs have the dashes and
 * marks of the static figures.
 */

import type { Recording } from "../api/types";

export const COLOURS = 7;
const DASHES: number[][] = [[], [8, 3], [2, 3], [8, 3, 2, 3]];
/** Those of the static figures, at a line width of 1.8. */
const FIGURE_DASHES: number[][] = [[], [9, 2.9], [10.8, 2.7, 2.2, 2.7], [2.2, 2.5]];
/** The dashes of references and curves of theory. */
const REFERENCE_DASHES: number[][] = [[6, 4], [2, 3], [7, 3, 2, 3], [11, 4]];

export const MARKS = ["circle", "square", "up", "diamond", "down", "plus", "cross", "left", "right"] as const;

/** The shape of a point. */
export type Mark = (typeof MARKS)[number];

/** The number of a style; lines with equal numbers look equal. */
export type StyleIndex = number;

export interface StyleIndices {
  flow: (name: string) => StyleIndex;
  interface: (name: string) => StyleIndex;
}

export interface LineStyle {
  /** A CSS variable: canvases have to resolve it. */
  colour: string;
  dash: number[];
}

export interface FigureStyle extends LineStyle {
  mark: Mark;
}

/** The line styles of a session, numbered in the order in which flows and interfaces first appear. */
export function styleIndicesOf(recordings: readonly Recording[]): StyleIndices {
  const flows = new Map<string, StyleIndex>();
  const interfaces = new Map<string, StyleIndex>();
  for (const { flows: listed, series } of recordings) {
    for (const { name } of listed) number(flows, name);
    for (const { kind, of } of series) number(kind === "queue" || kind === "rate" ? interfaces : flows, of);
  }
  return {
    flow: (name) => flows.get(name) ?? flows.size,
    interface: (name) => fromTheEnd(interfaces.get(name) ?? interfaces.size),
  };
}

export function styleOf(styleIndex: StyleIndex): LineStyle {
  const dash = DASHES[Math.floor(styleIndex / COLOURS) % DASHES.length] ?? [];
  return { colour: `var(--series-${styleIndex % COLOURS})`, dash };
}

/** The style of a line in a figure of finished runs. */
export function figureStyle(styleIndex: StyleIndex): FigureStyle {
  return {
    colour: `var(--series-${styleIndex % COLOURS})`,
    dash: FIGURE_DASHES[styleIndex % FIGURE_DASHES.length] ?? [],
    mark: MARKS[styleIndex % MARKS.length] ?? "circle",
  };
}

/** The dash of a reference or a curve of theory, by its rank among those of its chart. */
export function referenceDash(rank: number): number[] {
  return REFERENCE_DASHES[rank % REFERENCE_DASHES.length] ?? [];
}

/** Interfaces take the colours from the last one on, so that in a small network none looks like a flow. */
function fromTheEnd(place: number): StyleIndex {
  const round = Math.floor(place / COLOURS);
  return round * COLOURS + (COLOURS - 1 - (place % COLOURS));
}

function number(styleIndices: Map<string, StyleIndex>, name: string): void {
  if (!styleIndices.has(name)) styleIndices.set(name, styleIndices.size);
}
