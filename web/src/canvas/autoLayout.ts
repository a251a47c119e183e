/** Places for nodes that have none, by dagre. */

import dagre from "@dagrejs/dagre";
import type { Drawing } from "../documents/drawing";
import { snap } from "./geometry";
import type { Point } from "./geometry";

const SWEEPS = 24;

/**
 * Returns heights by name; the whole is centred about 0.
 *
 * Parameters: `ranks`, the names of each rank from top to bottom; `gap`, the least distance of two.
 */
export function symmetricHeights(
  ranks: readonly (readonly string[])[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  gap: number,
): Map<string, number> {
  const rankOf = new Map(ranks.flatMap((names, rank) => names.map((name) => [name, rank] as const)));
  const heights = new Map(ranks.flatMap((names) => names.map((name, index) => [name, (index - (names.length - 1) / 2) * gap] as const)));
  const place = (rank: number, beside: number) => {
    const names = ranks[rank] ?? [];
    const wanted = names.map((name) => {
      const near = (neighbours.get(name) ?? []).filter((other) => (rankOf.get(other) ?? NaN) - rank === beside);
      return near.length === 0 ? (heights.get(name) ?? 0) : mean(near.map((other) => heights.get(other) ?? 0));
    });
    spread(wanted, gap).forEach((height, index) => heights.set(names[index] ?? "", height));
  };
  const down = () => ranks.forEach((_, rank) => rank > 0 && place(rank, -1));
  const up = () => ranks.forEach((_, rank) => rank > 0 && place(ranks.length - 1 - rank, 1));
  // The side with more nodes is placed last: it has the leaves, and their neighbours are centred on them.
  const sizes = ranks.map((names) => names.length);
  const half = Math.floor(ranks.length / 2);
  const opensOut = total(sizes.slice(-half)) >= total(sizes.slice(0, half));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    if (opensOut) down();
    up();
    if (!opensOut) down();
  }
  const all = [...heights.values()];
  const middle = (Math.min(...all) + Math.max(...all)) / 2;
  return new Map([...heights].map(([name, height]) => [name, height - middle]));
}

/** The heights nearest to the wanted ones that keep the order and the gap. */
export function spread(wanted: readonly number[], gap: number): number[] {
  const pools: { sum: number; count: number }[] = [];
  wanted.forEach((height, index) => {
    let pool = { sum: height - index * gap, count: 1 };
    for (let last = pools.at(-1); last !== undefined && last.sum / last.count >= pool.sum / pool.count; last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count)).map((height, index) => height + index * gap);
}

function mean(values: readonly number[]): number {
  return total(values) / values.length;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Between nodes side by side, and between ranks, in pixels: labels of links need the room. */
const NODE_GAP = 60;
const RANK_GAP = 130;
/** A node with its name. */
const NODE_HEIGHT = 70;

/** With more nodes, layers from left to right would become one long column. */
const MANY = 40;
/** From node to node in a block. */
const STEP = 90;

/** Places for all nodes: from left to right, or, of many, in blocks. */
export function autoLayout(drawing: Drawing): Map<string, Point> {
  return drawing.nodes.length > MANY ? inBlocks(drawing) : inLayers(drawing);
}

/**
 * Each switch or router with the nodes attached only to it below it, and all these
 * blocks beside and below each other, in the order in which links lead to them.
 */
function inBlocks(drawing: Drawing): Map<string, Point> {
  const neighbours = neighboursOf(drawing);
  const isLeaf = (name: string) => {
    const [only, second] = neighbours.get(name) ?? [];
    return only !== undefined && second === undefined && (neighbours.get(only)?.length ?? 0) > 1;
  };
  const core = inOrder(drawing.nodes.map(({ name }) => name).filter((name) => !isLeaf(name)), neighbours);
  const blocks = core.map((name) => ({ name, leaves: (neighbours.get(name) ?? []).filter(isLeaf) }));
  const widest = Math.max(...blocks.map(({ leaves }) => leaves.length));
  const columns = Math.max(1, Math.ceil(Math.sqrt(widest * 1.5)));
  const height = (Math.ceil(widest / columns) + 1) * STEP + 40;
  const across = Math.max(1, Math.round(Math.sqrt((blocks.length * height * 2) / ((columns + 1) * STEP))));
  const places = new Map<string, Point>();
  blocks.forEach(({ name, leaves }, index) => {
    const left = (index % across) * (columns + 1) * STEP;
    const top = Math.floor(index / across) * height;
    places.set(name, snap({ x: left + ((columns - 1) * STEP) / 2, y: top }));
    leaves.forEach((leaf, number) => {
      places.set(leaf, snap({ x: left + (number % columns) * STEP, y: top + (Math.floor(number / columns) + 1) * STEP }));
    });
  });
  return places;
}

function neighboursOf(drawing: Drawing): Map<string, string[]> {
  const neighbours = new Map<string, string[]>(drawing.nodes.map(({ name }) => [name, []]));
  for (const { ends: [a, b] } of drawing.links) {
    neighbours.get(a)?.push(b);
    neighbours.get(b)?.push(a);
  }
  return neighbours;
}

/** Breadth first, each name once. */
function inOrder(names: readonly string[], neighbours: ReadonlyMap<string, readonly string[]>): string[] {
  const wanted = new Set(names);
  const order = new Set<string>();
  const busiest = [...names].sort((a, b) => (neighbours.get(b)?.length ?? 0) - (neighbours.get(a)?.length ?? 0));
  for (const start of busiest) {
    const queue = order.has(start) ? [] : [start];
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (order.has(name)) continue;
      order.add(name);
      queue.push(...(neighbours.get(name) ?? []).filter((next) => wanted.has(next) && !order.has(next)));
    }
  }
  return [...order];
}

function inLayers(drawing: Drawing): Map<string, Point> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "LR", nodesep: NODE_GAP, ranksep: RANK_GAP, marginx: 60, marginy: 60 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of drawing.nodes) graph.setNode(node.name, { width: 56, height: NODE_HEIGHT });
  for (const [a, b] of orientedLinks(drawing)) graph.setEdge(a, b);
  dagre.layout(graph);
  // Of dagre's result only the ranks and the order in them are used.
  const byRank = new Map<number, { name: string; y: number }[]>();
  for (const { name } of drawing.nodes) {
    const { x, y } = graph.node(name);
    byRank.set(x, [...(byRank.get(x) ?? []), { name, y }]);
  }
  const columns = [...byRank].sort(([one], [other]) => one - other);
  const ranks = columns.map(([, nodes]) => nodes.sort((one, other) => one.y - other.y).map(({ name }) => name));
  const heights = symmetricHeights(ranks, neighboursOf(drawing), NODE_GAP + NODE_HEIGHT);
  const top = Math.min(...heights.values());
  return new Map(
    columns.flatMap(([x], rank) => (ranks[rank] ?? []).map((name) => [name, snap({ x, y: 60 + (heights.get(name) ?? 0) - top })] as const)),
  );
}

/** Links in the direction in which flows go: senders are placed on the left. */
function orientedLinks(drawing: Drawing): [string, string][] {
  const neighbours = neighboursOf(drawing);
  const sources = drawing.flows.map((flow) => flow.source);
  const targets = new Set(drawing.flows.map((flow) => flow.target));
  const first = sources.filter((name) => !targets.has(name));
  const distance = new Map<string, number>();
  const chosen = first.length > 0 ? first : drawing.nodes.slice(0, 1).map(({ name }) => name);
  // Neighbours of a sender's neighbour share its rank, so that both sides of a dumbbell look alike.
  const isLeaf = (name: string) => neighbours.get(name)?.length === 1;
  const beside = chosen.filter(isLeaf).flatMap((name) => neighbours.get(neighbours.get(name)?.[0] ?? "") ?? []);
  const starts = [...new Set([...chosen, ...beside.filter((name) => isLeaf(name) && !targets.has(name))])];
  for (const start of [...starts, ...drawing.nodes.map(({ name }) => name)]) {
    if (distance.has(start)) continue;
    const queue = starts.includes(start) ? starts.filter((name) => !distance.has(name)) : [start];
    for (const name of queue) distance.set(name, 0);
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      for (const next of neighbours.get(name) ?? []) {
        if (distance.has(next)) continue;
        distance.set(next, (distance.get(name) ?? 0) + 1);
        queue.push(next);
      }
    }
  }
  return drawing.links.map(({ ends: [a, b] }) => ((distance.get(a) ?? 0) <= (distance.get(b) ?? 0) ? [a, b] : [b, a]));
}
