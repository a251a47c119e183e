/**
 * The position of each node: from the study's `layout`, or else computed.
 *
 * Computed positions are kept while the document is open, so that adding a node
 * does not move the others, and a node whose `layout` is undone returns to its own.
 */

import type { Drawing } from "../documents/drawing";
import { autoLayout } from "./autoLayout";
import type { Point } from "./geometry";
import { snap } from "./geometry";

/** The computed positions, by document. */
const computedPlaces = new Map<string, Map<string, Point>>();

export function placesOf(documentId: string, drawing: Drawing): Map<string, Point> {
  const names = new Set(drawing.nodes.map(({ name }) => name));
  const own = new Map([...(computedPlaces.get(documentId) ?? [])].filter(([name]) => names.has(name)));
  computedPlaces.set(documentId, own);
  const places = new Map<string, Point>();
  const missing: string[] = [];
  for (const { name } of drawing.nodes) {
    const place = drawing.layout.get(name) ?? own.get(name);
    if (place === undefined) missing.push(name);
    else places.set(name, place);
  }
  if (missing.length > 0) {
    const computed = autoLayout(drawing);
    const shift = shiftBetween(computed, places);
    for (const name of missing) {
      const { x, y } = computed.get(name) ?? { x: 0, y: 0 };
      const place = freeSpot({ x: x + shift.x, y: y + shift.y }, [...places.values()]);
      places.set(name, place);
      own.set(name, place);
    }
  }
  return places;
}

/** The nearest free position to the right or below. */
export function freeSpot(wanted: Point, taken: readonly Point[]): Point {
  const isFree = (point: Point) => taken.every((other) => Math.abs(other.x - point.x) >= 70 || Math.abs(other.y - point.y) >= 80);
  for (let step = 0; step < 400; step++) {
    const point = snap({ x: wanted.x + (step % 20) * 90, y: wanted.y + Math.floor(step / 20) * 90 });
    if (isFree(point)) return point;
  }
  return snap(wanted);
}

function shiftBetween(computed: ReadonlyMap<string, Point>, places: ReadonlyMap<string, Point>): Point {
  const shared = [...places].flatMap(([name, place]) => {
    const other = computed.get(name);
    return other === undefined ? [] : [{ x: place.x - other.x, y: place.y - other.y }];
  });
  if (shared.length === 0) return { x: 0, y: 0 };
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return { x: mean(shared.map(({ x }) => x)), y: mean(shared.map(({ y }) => y)) };
}
