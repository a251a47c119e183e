/**
 * The labels on the canvas and their positions: properties of links, names of flows,
 * interfaces, and the space for the rates of links while traffic runs.
 *
 * Properties come first and rates last, so that nothing jumps when Run is pressed.
 */

import type { Drawing } from "../documents/drawing";
import { frameOf, noteSize } from "./decor";
import type { CanvasEdge, CanvasNode, FlowEdgeType, LinkEdgeType } from "./elements";
import type { Line, Point } from "./geometry";
import { at, bowOf, HALF, lineBetween, reversed } from "./geometry";
import { flowLabel, wrapLabel } from "./labels";
import type { Box, PlacementRequest, Size } from "./placement";
import { Placement } from "./placement";

export interface PlacedLabel {
  id: string;
  kind: "link" | "flow" | "end";
  lines: string[];
  box: Box;
  selected: boolean;
}

/** The space for a link's two rates. */
export interface PlacedRates {
  edge: LinkEdgeType;
  line: Line;
  box: Box;
}

export interface PlacedLink {
  edge: LinkEdgeType;
  line: Line;
}

export interface PlacedLabels {
  links: PlacedLink[];
  labels: PlacedLabel[];
  rates: PlacedRates[];
}

export const ROW = 14;
/** The approximate width of a letter, in pixels. */
const LETTER = 6.2;
/** Distance from a line to its labels: lanes of traffic have some width. */
const GAP = 8;
/** A link that is shorter has no room for its rates. */
const MIN_FOR_RATES = 60;
const RATES: Size = { width: 16 * LETTER, height: 2 * ROW };
const ALONG = [0.5, 0.38, 0.62, 0.26, 0.74];
const FARTHER = [22, 44];
const ALONG_BOW = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78];

export function placeLabels(nodes: readonly CanvasNode[], edges: readonly CanvasEdge[], showsAddresses: boolean): PlacedLabels {
  const placement = new Placement();
  const middles = new Map<string, Point>();
  for (const node of nodes) {
    middles.set(node.id, node.position);
    for (const box of boxesOf(node, showsAddresses)) placement.avoidBox(box);
  }
  const links: PlacedLink[] = [];
  const flows: { edge: FlowEdgeType; points: Point[] }[] = [];
  for (const edge of edges) {
    const from = middles.get(edge.source);
    const to = middles.get(edge.target);
    if (from === undefined || to === undefined || edge.data === undefined) continue;
    if (edge.type === "link") {
      const line = lineBetween(from, to, edge.data.shift);
      links.push({ edge, line });
      placement.avoidStroke({ from: line.from, to: line.to, of: edge.id });
    } else if (edge.type === "flow") {
      const { points } = bowOf(from, to, edge.data);
      flows.push({ edge, points });
      points.slice(1).forEach((point, index) => placement.avoidStroke({ from: points[index] ?? point, to: point, of: edge.id }));
    }
  }
  const labels: PlacedLabel[] = [];
  const add = (kind: PlacedLabel["kind"], lines: string[], request: PlacementRequest, selected: boolean) => {
    const box = placement.place(request);
    if (box !== null) labels.push({ id: request.id, kind, lines, box, selected });
  };
  for (const { edge, line } of links) {
    const lines = wrapLabel(edge.data?.label ?? [], widthFor(line));
    if (lines.length === 0) continue;
    const size = sizeOf(lines);
    add("link", lines, { id: edge.id, size, middles: besides(line, size, UP) }, edge.selected === true);
  }
  for (const { edge, points } of flows) {
    const flow = edge.data?.flow;
    if (flow === undefined) continue;
    const lines = [flowLabel(flow)];
    const onBow = ALONG_BOW.flatMap((share) => points[Math.round(share * (points.length - 1))] ?? []);
    add("flow", lines, { id: edge.id, size: sizeOf(lines), middles: onBow, own: edge.id }, edge.selected === true);
  }
  if (showsAddresses) {
    for (const { edge, line } of links) {
      for (const end of [0, 1] as const) {
        const lines = endLabel(edge, end);
        const size = sizeOf(lines);
        const way = end === 0 ? line : reversed(line);
        add("end", lines, { id: `${edge.id}:${end}`, size, middles: atEnd(way, size) }, edge.selected === true);
      }
    }
  }
  for (const { line } of links) {
    for (const way of [line, reversed(line)]) placement.avoidBox(queueBox(way));
  }
  const rates = links.flatMap(({ edge, line }): PlacedRates[] => {
    if (line.length < MIN_FOR_RATES) return [];
    const box = placement.place({ id: edge.id, size: RATES, middles: besides(line, RATES, DOWN) });
    return box === null ? [] : [{ edge, line, box }];
  });
  return { links, labels, rates };
}

/** Where the queue of a link's first end is drawn, and how many packets it has dropped. */
export const QUEUE = { along: 8, aside: 14, width: 8, height: 20, text: 8 };

export function queueBox(line: Line): Box {
  const { x, y } = at(line, QUEUE.along, QUEUE.aside);
  const half = QUEUE.width / 2;
  const width = QUEUE.text + 6 * LETTER;
  return { x: line.along.x >= 0 ? x - half : x - width, y: y - QUEUE.height / 2, width: width + half, height: QUEUE.height };
}

/** The square, and its name below. */
function boxesOf({ position: { x, y }, data: { node } }: CanvasNode, showsAddresses: boolean): Box[] {
  const address = showsAddresses ? (node.address ?? "") : "";
  const width = Math.max(node.name.length * 7.5, address.length * LETTER) + 8;
  const height = address === "" ? 18 : 33;
  return [
    { x: x - HALF, y: y - HALF, width: 2 * HALF, height: 2 * HALF },
    { x: x - width / 2, y: y + HALF + 2, width, height },
  ];
}

/** Level lines carry their properties above and their rates below; steep ones at the right and left. */
const UP = (line: Line) => (Math.abs(line.along.y) > 0.8 ? { x: 1, y: 0 } : { x: 0, y: -1 });
const DOWN = (line: Line) => (Math.abs(line.along.y) > 0.8 ? { x: -1, y: 0 } : { x: 0, y: 1 });

/** Positions beside a line at which the box does not touch it. */
function besides(line: Line, size: Size, side: (line: Line) => Point): Point[] {
  const liked = side(line);
  const sign = line.aside.x * liked.x + line.aside.y * liked.y >= 0 ? 1 : -1;
  const away = (Math.abs(line.aside.x) * size.width + Math.abs(line.aside.y) * size.height) / 2 + GAP;
  const near = [sign, -sign].flatMap((where) => ALONG.map((share) => at(line, share * line.length, where * away)));
  // Between nodes that are close together, there is room only above or below both.
  return [...near, ...FARTHER.flatMap((more) => [sign, -sign].map((where) => at(line, line.length / 2, where * (away + more))))];
}

/** Places beside a line's first end. */
function atEnd(line: Line, size: Size): Point[] {
  const along = (Math.abs(line.along.x) * size.width + Math.abs(line.along.y) * size.height) / 2;
  const away = (Math.abs(line.aside.x) * size.width + Math.abs(line.aside.y) * size.height) / 2 + 3;
  const sign = line.aside.y >= 0 ? 1 : -1;
  return [0, 10].flatMap((more) => [sign, -sign].map((where) => at(line, along + 4 + more, where * away)));
}

function endLabel(edge: LinkEdgeType, end: 0 | 1): string[] {
  const link = edge.data?.link;
  if (link === undefined) return [];
  const address = link.addresses[end];
  return [link.interfaces[end], ...(address === null ? [] : [address])];
}

/** A horizontal line's label is at most as wide as the line; beside a steep one there is more room. */
function widthFor(line: Line): number {
  return Math.abs(line.along.y) > 0.8 ? 180 : Math.max(100, line.length * Math.abs(line.along.x) + 16);
}

function sizeOf(lines: readonly string[]): Size {
  return { width: Math.max(...lines.map((line) => line.length)) * LETTER + 4, height: lines.length * ROW };
}

/** The box around all nodes, bows, labels, groups and notes. */
export function extentOf(drawing: Drawing, nodes: readonly CanvasNode[], edges: readonly CanvasEdge[], { labels, rates }: PlacedLabels): Box {
  const places = new Map(nodes.map((node) => [node.id, node.position]));
  const points = edges.flatMap((edge) => {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    if (edge.type !== "flow" || edge.data === undefined || from === undefined || to === undefined) return [];
    return bowOf(from, to, edge.data).points;
  });
  const boxes = [
    ...nodes.flatMap((node) => boxesOf(node, true)),
    ...[...labels, ...rates].map(({ box }) => box),
    ...drawing.groups.flatMap((group) => frameOf(group.nodes.flatMap((name) => places.get(name) ?? [])) ?? []),
    ...drawing.notes.map(({ x, y, text }) => ({ x, y, ...noteSize(text) })),
    ...points.map((point) => ({ ...point, width: 0, height: 0 })),
  ];
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  return {
    x,
    y,
    width: Math.max(...boxes.map((box) => box.x + box.width)) - x,
    height: Math.max(...boxes.map((box) => box.y + box.height)) - y,
  };
}
