/** Applies React Flow's drag and selection changes to the text and to the page's selection. */

import { applyNodeChanges } from "@xyflow/react";
import type { EdgeChange, NodeChange } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Dispatch, RefObject, SetStateAction } from "react";
import { NOTHING, useUi } from "../app/ui";
import type { Selection } from "../app/ui";
import { documentOf } from "../documents/change";
import type { Drawing } from "../documents/drawing";
import { drawingOf } from "../documents/useDrawing";
import { NO_GUIDES, guided } from "./arrange";
import type { Guides } from "./arrange";
import { moveEnd, moveNodes } from "./commands";
import type { CanvasEdge, CanvasNode } from "./elements";
import { snap } from "./geometry";
import type { Point } from "./geometry";
import { nodeAt } from "./keys";
import { placesOf } from "./places";

interface Wiring {
  id: string;
  drawing: Drawing;
  /** True while nodes are being dragged: the text changes at the end. */
  dragging: RefObject<boolean>;
  /** True from a press with the link or flow tool to the next press: such a click selects no node. */
  connects: RefObject<boolean>;
  /** What stays selected whatever else is selected or deselected. */
  kept: RefObject<Selection>;
  setNodes: Dispatch<SetStateAction<CanvasNode[]>>;
  setGuides: (guides: Guides) => void;
}

export function useCanvasChanges({ id, drawing, dragging, connects, kept, setNodes, setGuides }: Wiring) {
  /** Positions of dragged nodes, snapped to the lines of other nodes. */
  const pulled = useRef<ReadonlyMap<string, Point>>(new Map());
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const drags = changes.flatMap((one) => (one.type === "position" && one.dragging === true && one.position !== undefined ? [{ ...one, position: one.position }] : []));
      if (drags.length > 0) {
        const names = new Set(drags.map((one) => one.id));
        const others = [...placesOf(id, drawing)].filter(([name]) => !names.has(name)).map(([, place]) => place);
        const { shift, guides } = guided(drags.map((one) => one.position), others);
        const first = drags[0]?.position ?? { x: 0, y: 0 };
        const grid = snap(first);
        // Snap to the line of another node, else to the grid of the nodes' centres.
        const by = { x: guides.x === null ? grid.x - first.x : shift.x, y: guides.y === null ? grid.y - first.y : shift.y };
        pulled.current = new Map(drags.map((one) => [one.id, { x: one.position.x + by.x, y: one.position.y + by.y }]));
        setGuides(guides);
      }
      const moved = changes.map((one) => (one.type === "position" && one.dragging === true ? { ...one, position: pulled.current.get(one.id) ?? one.position } : one));
      setNodes((before) => applyNodeChanges(moved.filter((one) => one.type === "position" || one.type === "dimensions") as NodeChange<CanvasNode>[], before));
      const chosen = changes.filter((one) => one.type === "select");
      if (chosen.length === 0 || connects.current) return;
      const now = useUi.getState().selection;
      const names = new Set(now.nodes);
      for (const one of chosen) toggle(names, one.id, one.selected);
      useUi.getState().set({ selection: union(kept.current, { ...withoutDecor(now, chosen), nodes: names }) });
    },
    [id, drawing, connects, kept, setNodes, setGuides],
  );

  const onEdgesChange = useCallback((changes: EdgeChange<CanvasEdge>[]) => {
    const now = useUi.getState().selection;
    const links = new Set(now.links);
    const flows = new Set(now.flows);
    for (const one of changes) {
      if (one.type !== "select") continue;
      const [kind, name] = [one.id.slice(0, one.id.indexOf(":")), one.id.slice(one.id.indexOf(":") + 1)];
      if (kind === "link") toggle(links, Number(name), one.selected);
      else toggle(flows, name, one.selected);
    }
    useUi.getState().set({ selection: union(kept.current, { ...withoutDecor(now, changes), links, flows }) });
  }, [kept]);

  const onDragStart = useCallback(() => {
    dragging.current = true;
    pulled.current = new Map();
  }, [dragging]);

  /** Of a selection, React Flow calls this twice. */
  const onDragStop = useCallback(
    (_: unknown, __: unknown, moved: CanvasNode[]) => {
      dragging.current = false;
      setGuides(NO_GUIDES);
      const before = placesOf(id, drawing);
      const placed = moved.map(({ id: name, position }) => ({ id: name, position: pulled.current.get(name) ?? position }));
      const changed = placed.filter(({ id: name, position }) => {
        const old = before.get(name);
        return old === undefined || old.x !== position.x || old.y !== position.y;
      });
      if (changed.length > 0) moveNodes(id, Object.fromEntries(changed.map(({ id: name, position }) => [name, position])));
    },
    [id, drawing, dragging, setGuides],
  );

  return { onNodesChange, onEdgesChange, onDragStart, onDragStop };
}

/** A click on a node or link deselects notes and groups. */
function withoutDecor(selection: Selection, changes: readonly { type: string; selected?: boolean }[]): Selection {
  return changes.some((one) => one.type === "select" && one.selected === true) ? { ...selection, notes: NOTHING.notes, groups: NOTHING.groups } : selection;
}

function union(a: Selection, b: Selection): Selection {
  return {
    nodes: new Set([...a.nodes, ...b.nodes]),
    links: new Set([...a.links, ...b.links]),
    flows: new Set([...a.flows, ...b.flows]),
    notes: new Set([...a.notes, ...b.notes]),
    groups: new Set([...a.groups, ...b.groups]),
  };
}

function toggle<T>(set: Set<T>, item: T, on: boolean): void {
  if (on) set.add(item);
  else set.delete(item);
}

interface Held {
  index: number;
  end: 0 | 1;
  /** The node at the other end. */
  fixed: string;
}

export function useLinkEnd(id: string): { held: Held | null; holdEnd: (index: number, end: 0 | 1) => void } {
  const [held, setHeld] = useState<Held | null>(null);
  const holdEnd = useCallback(
    (index: number, end: 0 | 1) => {
      const document = documentOf(id);
      const link = document === null ? undefined : drawingOf(document).links.find((one) => one.index === index);
      if (link !== undefined) setHeld({ index, end, fixed: link.ends[1 - end] ?? "" });
    },
    [id],
  );
  useEffect(() => {
    if (held === null) return undefined;
    const drop = (event: PointerEvent) => {
      setHeld(null);
      const name = nodeAt(event.clientX, event.clientY);
      if (name !== null) moveEnd(id, held.index, held.end, name);
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setHeld(null);
    };
    window.addEventListener("pointerup", drop);
    window.addEventListener("keydown", cancel, true);
    return () => {
      window.removeEventListener("pointerup", drop);
      window.removeEventListener("keydown", cancel, true);
    };
  }, [id, held]);
  return { held, holdEnd };
}
