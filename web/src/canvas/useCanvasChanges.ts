/** What React Flow reports of drags and selections, brought to where it belongs: the text, and the page's selection. */

import type { EdgeChange, NodeChange } from "@xyflow/react";
import { applyNodeChanges } from "@xyflow/react";
import type { Dispatch, RefObject, SetStateAction } from "react";
import { useCallback } from "react";
import { useUi } from "../app/ui";
import type { Drawing } from "../documents/drawing";
import { moveNodes } from "./commands";
import type { CanvasEdge, CanvasNode } from "./elements";
import { placesOf } from "./places";

interface Wiring {
  id: string;
  drawing: Drawing;
  /** True while nodes are being dragged: the text hears of it at the end. */
  dragging: RefObject<boolean>;
  /** True from a press with the link or flow tool to the next press: such a click selects no node. */
  connects: RefObject<boolean>;
  setNodes: Dispatch<SetStateAction<CanvasNode[]>>;
}

export function useCanvasChanges({ id, drawing, dragging, connects, setNodes }: Wiring) {
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      setNodes((before) => applyNodeChanges(changes.filter((one) => one.type === "position" || one.type === "dimensions"), before));
      const chosen = changes.filter((one) => one.type === "select");
      if (chosen.length === 0 || connects.current) return;
      const now = useUi.getState().selection;
      const names = new Set(now.nodes);
      for (const one of chosen) toggle(names, one.id, one.selected);
      useUi.getState().set({ selection: { ...now, nodes: names } });
    },
    [connects, setNodes],
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
    useUi.getState().set({ selection: { ...now, links, flows } });
  }, []);

  const onDragStop = useCallback(
    (_: unknown, __: unknown, moved: CanvasNode[]) => {
      dragging.current = false;
      const before = placesOf(id, drawing);
      const changed = moved.filter(({ id: name, position }) => {
        const old = before.get(name);
        return old === undefined || old.x !== position.x || old.y !== position.y;
      });
      if (changed.length > 0) moveNodes(id, Object.fromEntries(changed.map(({ id: name, position }) => [name, position])));
    },
    [id, drawing, dragging],
  );

  return { onNodesChange, onEdgesChange, onDragStop };
}

function toggle<T>(set: Set<T>, item: T, on: boolean): void {
  if (on) set.add(item);
  else set.delete(item);
}
