/** From a drawing to the canvas's nodes and edges. Unchanged elements stay the same objects. */

import type { Edge, Node } from "@xyflow/react";
import type { FieldInfo } from "../api/types";
import type { Selection } from "../app/ui";
import type { DrawnFlow, DrawnLink, DrawnNode, Drawing } from "../documents/drawing";
import type { Point } from "./geometry";
import { HALF, shiftOf } from "./geometry";
import { linkLabel } from "./labels";

export type CanvasNode = Node<{ node: DrawnNode; problem: boolean; colour: string | null }, "node">;
export type LinkEdgeType = Edge<{ link: DrawnLink; label: string[]; shift: number; problem: boolean }, "link">;
export type FlowEdgeType = Edge<{ flow: DrawnFlow; place: number; down: boolean }, "flow">;
export type CanvasEdge = LinkEdgeType | FlowEdgeType;

const SIZE = 2 * HALF;

export function linkId(index: number): string {
  return `link:${index}`;
}

export function flowId(name: string): string {
  return `flow:${name}`;
}

export function makeNodes(
  drawing: Drawing,
  places: ReadonlyMap<string, Point>,
  selection: Selection,
  problems: ReadonlySet<string>,
  before: readonly CanvasNode[],
): CanvasNode[] {
  const old = new Map(before.map((one) => [one.id, one]));
  return drawing.nodes.map((node) => {
    const position = places.get(node.name) ?? { x: 0, y: 0 };
    const selected = selection.nodes.has(node.name);
    const problem = problems.has(node.name);
    const colour = drawing.colours.get(node.name) ?? null;
    const known = old.get(node.name);
    if (
      known !== undefined &&
      known.selected === selected &&
      known.data.problem === problem &&
      known.data.colour === colour &&
      known.position.x === position.x &&
      known.position.y === position.y &&
      same(known.data.node, node)
    ) {
      return known;
    }
    const kinds = { host: "Host", router: "Router", switch: "Switch" };
    return {
      id: node.name,
      type: "node",
      position,
      selected,
      data: { node, problem, colour },
      width: SIZE,
      height: SIZE,
      // The measured size is kept: else React Flow would hide the node until it has measured it again.
      ...(known?.measured === undefined ? {} : { measured: known.measured }),
      ariaLabel: `${kinds[node.kind]} ${node.name}${node.address === null ? "" : `, ${node.address}`}${problem ? ", has a problem" : ""}`,
    };
  });
}

export function makeEdges(
  drawing: Drawing,
  places: ReadonlyMap<string, Point>,
  selection: Selection,
  problems: ReadonlySet<number>,
  before: readonly CanvasEdge[],
  fields: readonly FieldInfo[],
): CanvasEdge[] {
  const old = new Map(before.map((one) => [one.id, one]));
  const links = drawing.links.map((link): LinkEdgeType => {
    const id = linkId(link.index);
    const [source, target] = link.ends;
    const parallel = drawing.links.filter((other) => sameEnds(other, link));
    // The same side in both orders of the ends.
    const side = source < target ? 1 : -1;
    const label = linkLabel(link, fields);
    const data = { link, label, shift: side * shiftOf(parallel.indexOf(link), parallel.length), problem: problems.has(link.index) };
    const selected = selection.links.has(link.index);
    const known = old.get(id);
    if (known?.type === "link" && known.selected === selected && known.data !== undefined && same(known.data, data)) return known;
    return { id, type: "link", source, target, selected, data, ariaLabel: linkName(link, label) };
  });
  const names = new Set(drawing.nodes.map((node) => node.name));
  const flows = drawing.flows
    .filter((flow) => names.has(flow.source) && names.has(flow.target) && flow.source !== flow.target)
    .map((flow, index, all): FlowEdgeType => {
      const id = flowId(flow.name);
      const beside = all.slice(0, index).filter((other) => sameHosts(other, flow)).length;
      const data = { flow, place: beside, down: isLow(flow, places) };
      const selected = selection.flows.has(flow.name);
      const known = old.get(id);
      if (known?.type === "flow" && known.selected === selected && known.data !== undefined && same(known.data, data)) return known;
      const { source, target } = flow;
      return { id, type: "flow", source, target, selected, data, ariaLabel: `Flow ${flow.name}: ${flow.tool} from ${source} to ${target}` };
    });
  return [...links, ...flows];
}

/** For screen readers, who do not see the label beside it. */
function linkName(link: DrawnLink, label: string[]): string {
  return [`Link from ${link.ends[0]} to ${link.ends[1]}`, ...label].join(", ");
}

function sameHosts(one: DrawnFlow, other: DrawnFlow): boolean {
  return [one.source, one.target].sort().join() === [other.source, other.target].sort().join();
}

/** Whether the flow is in the network's lower half: there its curve bends down, away from the links. */
function isLow({ source, target }: DrawnFlow, places: ReadonlyMap<string, Point>): boolean {
  const heights = [...places.values()].map(({ y }) => y);
  const middle = (Math.min(...heights) + Math.max(...heights)) / 2;
  const own = ((places.get(source)?.y ?? 0) + (places.get(target)?.y ?? 0)) / 2;
  return own > middle + 10;
}

function sameEnds(one: DrawnLink, other: DrawnLink): boolean {
  const [a, b] = one.ends;
  return other.ends.includes(a) && other.ends.includes(b);
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
