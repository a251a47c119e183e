/** Where lines run between nodes, in the canvas's own pixels. */

export interface Point {
  x: number;
  y: number;
}

/** Half of a node's width and height. */
export const HALF = 26;
export const GRID = 10;

export interface Line {
  from: Point;
  to: Point;
  /** Of length 1, from the first to the second end. */
  along: Point;
  /** Of length 1, to the right of it. */
  aside: Point;
  length: number;
}

/**
 * A straight line between two nodes' borders, moved aside.
 *
 * Parameters: `shift`, by how much, so that parallel links do not overlap.
 */
export function lineBetween(a: Point, b: Point, shift = 0): Line {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const distance = Math.hypot(dx, dy) || 1;
  const along = { x: dx / distance, y: dy / distance };
  const aside = { x: -along.y, y: along.x };
  const gap = Math.min(borderAt(along), distance / 2 - 1);
  const from = { x: a.x + aside.x * shift + along.x * gap, y: a.y + aside.y * shift + along.y * gap };
  const to = { x: b.x + aside.x * shift - along.x * gap, y: b.y + aside.y * shift - along.y * gap };
  return { from, to, along, aside, length: Math.max(0, distance - 2 * gap) };
}

/** The same line, from its other end. */
export function reversed(line: Line): Line {
  const { from, to, along, aside, length } = line;
  return { from: to, to: from, along: { x: -along.x, y: -along.y }, aside: { x: -aside.x, y: -aside.y }, length };
}

export function at(line: Line, along: number, aside = 0): Point {
  return {
    x: line.from.x + line.along.x * along + line.aside.x * aside,
    y: line.from.y + line.along.y * along + line.aside.y * aside,
  };
}

/** How a flow's curve bends: its rank among those between the same hosts, and whether it bends down. */
export interface Bend {
  place: number;
  down: boolean;
}

const BOW_POINTS = 24;

/** A flow's curve from node to node: its path, and points along it. */
export function bowOf(a: Point, b: Point, { place, down }: Bend): { path: string; points: Point[] } {
  const size = 34 + 0.06 * Math.hypot(b.x - a.x, b.y - a.y) + place * 24;
  // Up or down as `bend` says, in either direction of the flow.
  const height = b.x >= a.x === down ? -size : size;
  const line = lineBetween(a, b);
  const middle = at(line, line.length / 2);
  const control = { x: middle.x - line.aside.x * height * 2, y: middle.y - line.aside.y * height * 2 };
  const start = towards(a, control);
  const end = towards(b, control);
  return {
    path: `M${round(start.x)},${round(start.y)} Q${round(control.x)},${round(control.y)} ${round(end.x)},${round(end.y)}`,
    points: Array.from({ length: BOW_POINTS + 1 }, (_, index) => onBow(start, control, end, index / BOW_POINTS)),
  };
}

export function straight(from: Point, to: Point): string {
  return `M${round(from.x)},${round(from.y)} L${round(to.x)},${round(to.y)}`;
}

export function snap(point: Point): Point {
  return { x: Math.round(point.x / GRID) * GRID, y: Math.round(point.y / GRID) * GRID };
}

/** How much each of several links between the same nodes is moved aside. */
export function shiftOf(place: number, count: number): number {
  return (place - (count - 1) / 2) * 26;
}

function onBow(start: Point, control: Point, end: Point, share: number): Point {
  const rest = 1 - share;
  const of = (a: number, b: number, c: number) => rest * rest * a + 2 * rest * share * b + share * share * c;
  return { x: of(start.x, control.x, end.x), y: of(start.y, control.y, end.y) };
}

function towards(from: Point, to: Point): Point {
  const distance = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const along = { x: (to.x - from.x) / distance, y: (to.y - from.y) / distance };
  const gap = borderAt(along) + 4;
  return { x: from.x + along.x * gap, y: from.y + along.y * gap };
}

/** From a node's middle to its border, with some space. */
function borderAt(along: Point): number {
  return Math.min(HALF / (Math.max(Math.abs(along.x), Math.abs(along.y)) || 1), HALF * 1.2) + 2;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
