/** Keyboard control of the canvas, equivalent to the mouse. */

import { useReactFlow } from "@xyflow/react";
import type { RefObject } from "react";
import { useEffect, useRef } from "react";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import type { NodeKind } from "../documents/drawing";
import { useDocuments } from "../documents/store";
import { drawingOf } from "../documents/useDrawing";
import { copySelection, deleteSelection, duplicate, layOut, moveNodes, pasteClip, selectAll } from "./commands";
import { terminalAt } from "./ContextMenu";
import { GRID } from "./geometry";
import { focusCanvas, focusedNode, isOnCanvas, isTyping } from "./keys";
import { placesOf } from "./places";
import { toolOfKey } from "./tools";

interface Wiring {
  id: string;
  frame: RefObject<HTMLDivElement | null>;
  pending: string | null;
  setPending: (name: string | null) => void;
  setEditing: (name: string | null) => void;
  choose: (name: string) => void;
  begin: (tool: "link" | "flow", name: string) => void;
  placeInMiddle: (kind: NodeKind | "note") => void;
  fit: () => void;
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function useCanvasKeys({ id, pending, setPending, setEditing, choose, begin, placeInMiddle, fit }: Wiring): void {
  const { zoomIn, zoomOut } = useReactFlow();
  /** The node that received the focus by a key, not by a click. */
  const byKeyboard = useRef<string | null>(null);

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || isTyping(event.target) || useUi.getState().view !== "studio") return;
      const used = event.ctrlKey || event.metaKey ? withControl(event) : plain(event);
      if (used) event.preventDefault();
    };

    function withControl(event: KeyboardEvent): boolean {
      const key = event.key.toLowerCase();
      if (key === "z") {
        if (event.shiftKey) useDocuments.getState().redo(id);
        else useDocuments.getState().undo(id);
        return true;
      }
      if (key === "y") {
        useDocuments.getState().redo(id);
        return true;
      }
      if (!isOnCanvas(event.target) || hasMarkedText()) return false;
      const act = { c: copySelection, v: pasteClip, d: duplicate, a: selectAll }[key];
      act?.(id);
      return act !== undefined;
    }

    function plain(event: KeyboardEvent): boolean {
      const { key } = event;
      const ui = useUi.getState();
      const tool = toolOfKey(key);
      if (tool !== null) {
        // A click alone on a node does not choose it as the first end.
        const start = isOnCanvas(event.target) && focusedNode() === byKeyboard.current ? byKeyboard.current : null;
        if ((tool === "link" || tool === "flow") && start !== null) begin(tool, start);
        else ui.set({ tool });
        // Else Enter would press the button that has the focus.
        if (tool !== "select" && (event.target instanceof HTMLButtonElement || !isOnCanvas(event.target))) focusCanvas();
        return true;
      }
      if (key === "Escape") return escape();
      if (!isOnCanvas(event.target)) return false;
      if (key in ARROWS) return moveBy(ARROWS[key] ?? [0, 0], event.shiftKey ? 5 : 1);
      switch (key) {
        case "Delete":
        case "Backspace":
          deleteSelection(id);
          return true;
        case "Enter":
          return enter(event.target);
        case "F2": {
          const name = focusedNode() ?? onlySelected();
          if (name !== null) setEditing(name);
          return name !== null;
        }
        case "+":
        case "=":
          void zoomIn();
          return true;
        case "-":
          void zoomOut();
          return true;
        case "0":
          fit();
          return true;
        case "a":
          layOut(id);
          return true;
        case "i":
          ui.set({ showsAddresses: !ui.showsAddresses });
          return true;
        case "t": {
          const name = focusedNode() ?? onlySelected();
          if (name !== null) terminalAt(id, name);
          return name !== null;
        }
        default:
          return false;
      }
    }

    function escape(): boolean {
      if (pending !== null) setPending(null);
      else if (useUi.getState().tool !== "select") useUi.getState().set({ tool: "select" });
      else useUi.getState().select({});
      return true;
    }

    function enter(target: EventTarget | null): boolean {
      if (target instanceof HTMLButtonElement) return false;
      const { tool } = useUi.getState();
      const name = focusedNode();
      if (tool === "link" || tool === "flow") {
        if (name !== null) choose(name);
        return name !== null;
      }
      if (tool !== "select") {
        placeInMiddle(tool);
        return true;
      }
      const edge = target instanceof Element ? target.closest<HTMLElement>(".react-flow__edge")?.dataset["id"] : undefined;
      if (edge !== undefined) {
        const rest = edge.slice(edge.indexOf(":") + 1);
        useUi.getState().select(edge.startsWith("link:") ? { links: new Set([Number(rest)]) } : { flows: new Set([rest]) });
        useUi.getState().set({ rightTab: "properties" });
        return true;
      }
      const edited = name ?? onlySelected();
      if (edited !== null) setEditing(edited);
      return edited !== null;
    }

    function moveBy([x, y]: [number, number], times: number): boolean {
      const document = documentOf(id);
      const { nodes } = useUi.getState().selection;
      if (document === null || nodes.size === 0) return false;
      const places = placesOf(id, drawingOf(document));
      const moved = [...nodes].map((name) => {
        const place = places.get(name) ?? { x: 0, y: 0 };
        return [name, { x: place.x + x * GRID * times, y: place.y + y * GRID * times }] as const;
      });
      moveNodes(id, Object.fromEntries(moved), { joins: true });
      return true;
    }

    /** Tab selects the node that gets the focus, so that the panel follows. */
    const onFocus = (event: FocusEvent) => {
      const element = event.target;
      if (!(element instanceof HTMLElement) || !element.matches(".react-flow__node") || !element.matches(":focus-visible")) return;
      const name = element.dataset["id"];
      byKeyboard.current = name ?? null;
      const { tool, selection, select } = useUi.getState();
      if (name !== undefined && tool === "select" && !selection.nodes.has(name)) select({ nodes: new Set([name]) });
    };

    const onPointerDown = () => (byKeyboard.current = null);
    window.addEventListener("pointerdown", onPointerDown, true);
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("focusin", onFocus);
    return () => {
      window.removeEventListener("pointerdown", onPointerDown, true);
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("focusin", onFocus);
    };
  }, [id, pending, setPending, setEditing, choose, begin, placeInMiddle, fit, zoomIn, zoomOut]);
}

function onlySelected(): string | null {
  const { nodes } = useUi.getState().selection;
  return nodes.size === 1 ? ([...nodes][0] ?? null) : null;
}

/** If text is selected somewhere on the page, Ctrl+C copies that. */
function hasMarkedText(): boolean {
  return (window.getSelection()?.toString() ?? "") !== "";
}
