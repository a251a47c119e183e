/**
 * Finds places for labels, so that they cover neither each other nor what is drawn.
 *
 * Each label lists the positions where it could be, the best first. Labels are
 * placed one after the other, each where it costs the least: the area that it would
 * cover, and the position's rank in the list. Everything is kept in a coarse grid,
 * so that a label is compared only with what is near it.
 */

import type { Point } from "./geometry";

export interface Size {
  width: number;
  height: number;
}

/** Left and top, as on the screen. */
export interface Box extends Point, Size {}

export interface PlacementRequest {
  id: string;
  size: Size;
  /** Possible positions of its centre, the best first. */
  middles: Point[];
  /** The strokes it belongs to, which it may cover. */
  own?: string;
}

/** A segment of a line that labels should not cover. */
export interface Stroke {
  from: Point;
  to: Point;
  of: string;
}

/** The cost of a covered pixel of a stroke; a covered square pixel of a box costs 1. */
const STROKE_COST = 14;
/** The cost of each rank in the list of positions. */
const ORDER_COST = 25;
/** A label that covers a node or another label is hard to read at once. */
const BOX_COST = 4;
const CELL = 120;

interface Obstacle {
  box: Box;
  stroke: Stroke | null;
}

export class Placement {
  readonly #cells = new Map<string, Obstacle[]>();

  avoidBox(box: Box): void {
    this.#put({ box, stroke: null });
  }

  avoidStroke(stroke: Stroke): void {
    const { from, to } = stroke;
    this.#put({
      box: { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) },
      stroke,
    });
  }

  /** Places a label, which later ones avoid; null if it lists no position. */
  place({ size, middles, own }: PlacementRequest): Box | null {
    let best: { box: Box; cost: number } | null = null;
    for (const [order, middle] of middles.entries()) {
      if (best !== null && best.cost <= order * ORDER_COST) break;
      const box = { x: middle.x - size.width / 2, y: middle.y - size.height / 2, ...size };
      const cost = order * ORDER_COST + this.#covered(box, own);
      if (best === null || cost < best.cost) best = { box, cost };
    }
    if (best !== null) this.avoidBox(best.box);
    return best?.box ?? null;
  }

  #covered(box: Box, own: string | undefined): number {
    const seen = new Set<Obstacle>();
    let cost = 0;
    for (const key of cellsOf(box)) {
      for (const obstacle of this.#cells.get(key) ?? []) {
        if (seen.has(obstacle)) continue;
        seen.add(obstacle);
        if (obstacle.stroke === null) cost += BOX_COST * overlap(box, obstacle.box);
        else if (obstacle.stroke.of !== own) cost += STROKE_COST * lengthInside(obstacle.stroke, box);
      }
    }
    return cost;
  }

  #put(obstacle: Obstacle): void {
    for (const key of cellsOf(obstacle.box)) {
      const cell = this.#cells.get(key);
      if (cell === undefined) this.#cells.set(key, [obstacle]);
      else cell.push(obstacle);
    }
  }
}

function* cellsOf({ x, y, width, height }: Box): Generator<string> {
  for (let column = Math.floor(x / CELL); column <= Math.floor((x + width) / CELL); column += 1) {
    for (let row = Math.floor(y / CELL); row <= Math.floor((y + height) / CELL); row += 1) yield `${column},${row}`;
  }
}

/** How many square pixels two boxes share. */
export function overlap(one: Box, other: Box): number {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** How much of a stroke lies in a box: clipped by each side in turn. */
export function lengthInside({ from, to }: { from: Point; to: Point }, box: Box): number {
  let first = 0;
  let last = 1;
  for (const [start, way, least, size] of [
    [from.x, to.x - from.x, box.x, box.width],
    [from.y, to.y - from.y, box.y, box.height],
  ] as const) {
    if (way === 0) {
      if (start <= least || start >= least + size) return 0;
      continue;
    }
    const [a, b] = [(least - start) / way, (least + size - start) / way];
    first = Math.max(first, Math.min(a, b));
    last = Math.min(last, Math.max(a, b));
  }
  return last > first ? (last - first) * Math.hypot(to.x - from.x, to.y - from.y) : 0;
}
