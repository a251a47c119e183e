/**
 * Which colour and dash a flow or an interface has, the same in all charts and tables.
 *
 * The colours are those of longfat's reports (`longfat.output.plot.style`): told apart
 * by people with any colour vision, and by their lightness in print. They stand
 * in charts.css, for light and dark. When they are used up, dashes begin.
 */

import type { Recording } from "../api/types";

export const COLOURS = 7;
const DASHES: number[][] = [[], [8, 3], [2, 3], [8, 3, 2, 3]];

/** The number of a look; equal numbers look equal. */
export type Look = number;

export interface Looks {
  flow: (name: string) => Look;
  interface: (name: string) => Look;
}

export interface LineStyle {
  /** A CSS variable: canvases have to resolve it. */
  colour: string;
  dash: number[];
}

/** The looks of a session: numbered in the order in which flows and interfaces first appear. */
export function looksOf(recordings: readonly Recording[]): Looks {
  const flows = new Map<string, Look>();
  const interfaces = new Map<string, Look>();
  for (const { flows: listed, series } of recordings) {
    for (const { name } of listed) number(flows, name);
    for (const { kind, of } of series) number(kind === "queue" || kind === "rate" ? interfaces : flows, of);
  }
  return {
    flow: (name) => flows.get(name) ?? flows.size,
    interface: (name) => fromTheEnd(interfaces.get(name) ?? interfaces.size),
  };
}

export function styleOf(look: Look): LineStyle {
  const dash = DASHES[Math.floor(look / COLOURS) % DASHES.length] ?? [];
  return { colour: `var(--series-${look % COLOURS})`, dash };
}

/** Interfaces take the colours from the last one on, so that in a small network none looks like a flow. */
function fromTheEnd(place: number): Look {
  const round = Math.floor(place / COLOURS);
  return round * COLOURS + (COLOURS - 1 - (place % COLOURS));
}

function number(looks: Map<string, Look>, name: string): void {
  if (!looks.has(name)) looks.set(name, looks.size);
}
