/** Fits the view to all nodes, flows and labels. */

import type { Viewport } from "@xyflow/react";
import { getViewportForBounds, useReactFlow } from "@xyflow/react";
import type { RefObject } from "react";
import { useCallback, useEffect, useRef } from "react";
import type { Drawing } from "../documents/drawing";
import type { CanvasEdge, CanvasNode } from "./elements";
import { placeLabels, extentOf } from "./placedLabels";

/** The zoom bar is below, and the tool's hint above. */
const PADDING = { x: "24px", top: "20px", bottom: "48px" } as const;
const MIN_ZOOM = 0.05;
const MAX_ZOOM = 1.3;

interface Shown {
  frame: RefObject<HTMLDivElement | null>;
  drawing: Drawing;
  nodes: readonly CanvasNode[];
  edges: readonly CanvasEdge[];
  showsAddresses: boolean;
}

export function useFit({ frame, drawing, nodes, edges, showsAddresses }: Shown) {
  const flow = useReactFlow();
  /** The viewport of the last fit; until the user moves it, the view follows the frame's size. */
  const fitted = useRef<Viewport | null>(null);
  const fit = useCallback(
    (duration = 150) => {
      const element = frame.current;
      if (element === null || nodes.length === 0) return;
      const extent = extentOf(drawing, nodes, edges, placeLabels(nodes, edges, showsAddresses));
      const { clientWidth, clientHeight } = element;
      if (clientWidth < 100 || clientHeight < 100) return;
      fitted.current = getViewportForBounds(extent, clientWidth, clientHeight, MIN_ZOOM, MAX_ZOOM, PADDING);
      void flow.setViewport(fitted.current, { duration });
    },
    [flow, frame, drawing, nodes, edges, showsAddresses],
  );

  const last = useRef(fit);
  last.current = fit;
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (fitted.current !== null && isSame(fitted.current, flow.getViewport())) last.current(0);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [flow, frame]);
  return fit;
}

function isSame(one: Viewport, other: Viewport): boolean {
  return Math.abs(one.x - other.x) + Math.abs(one.y - other.y) < 1 && Math.abs(one.zoom - other.zoom) < 1e-3;
}
