/** Aligning nodes: by command, and by guides during a drag. */

import type { Point } from "./geometry";
import { snap } from "./geometry";

export const ALIGNMENTS = ["left", "centre", "right", "top", "middle", "bottom"] as const;
export type Alignment = (typeof ALIGNMENTS)[number];
export type Axis = "x" | "y";

/** All nodes on one line; the outermost node, or the mean of all, gives its position. */
export function aligned(places: ReadonlyMap<string, Point>, how: Alignment): Map<string, Point> {
  const axis: Axis = how === "left" || how === "centre" || how === "right" ? "x" : "y";
  const values = [...places.values()].map((place) => place[axis]);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const to = how === "left" || how === "top" ? least : how === "right" || how === "bottom" ? most : (least + most) / 2;
  return new Map([...places].map(([name, place]) => [name, snap({ ...place, [axis]: to })]));
}

/** The same distance from each node to the next; the outermost two stay where they are. */
export function distributed(places: ReadonlyMap<string, Point>, axis: Axis): Map<string, Point> {
  const order = [...places].sort(([, one], [, other]) => one[axis] - other[axis]);
  const first = order[0]?.[1][axis] ?? 0;
  const last = order.at(-1)?.[1][axis] ?? 0;
  const step = (last - first) / Math.max(1, order.length - 1);
  return new Map(order.map(([name, place], index) => [name, { ...place, [axis]: Math.round(first + index * step) }]));
}

/** Lines through other nodes that dragged nodes are aligned to. */
export interface Guides {
  x: number | null;
  y: number | null;
}

export const NO_GUIDES: Guides = { x: null, y: null };

/** Within this distance a node snaps to the line of another, in pixels of the drawing. */
const REACH = 7;

/** The shift that aligns one of the dragged nodes with another node, and the guides. */
export function guided(dragged: readonly Point[], others: readonly Point[]): { shift: Point; guides: Guides } {
  const [x, y] = [nearest("x", dragged, others), nearest("y", dragged, others)];
  return { shift: { x: x?.shift ?? 0, y: y?.shift ?? 0 }, guides: { x: x?.line ?? null, y: y?.line ?? null } };
}

function nearest(axis: Axis, dragged: readonly Point[], others: readonly Point[]): { shift: number; line: number } | null {
  let best: { shift: number; line: number } | null = null;
  for (const own of dragged) {
    for (const other of others) {
      const shift = other[axis] - own[axis];
      if (Math.abs(shift) <= REACH && (best === null || Math.abs(shift) < Math.abs(best.shift))) best = { shift, line: other[axis] };
    }
  }
  return best;
}
