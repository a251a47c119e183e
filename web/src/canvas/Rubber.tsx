/** The line from a link's first end to the pointer, until the second is chosen. */

import { useInternalNode, useReactFlow, ViewportPortal } from "@xyflow/react";
import type { RefObject } from "react";
import { useEffect, useState } from "react";
import type { Point } from "./geometry";
import { HALF, straight } from "./geometry";

export function Rubber({ from, frame }: { from: string; frame: RefObject<HTMLDivElement | null> }) {
  const node = useInternalNode(from);
  const { screenToFlowPosition } = useReactFlow();
  const [to, setTo] = useState<Point | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const follow = (event: PointerEvent) =>
      setTo(screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false }));
    element.addEventListener("pointermove", follow);
    return () => element.removeEventListener("pointermove", follow);
  }, [frame, screenToFlowPosition]);
  if (node === undefined || to === null) return null;
  const { x, y } = node.internals.positionAbsolute;
  return (
    <ViewportPortal>
      <svg className="rubber" aria-hidden="true">
        <path d={straight({ x: x + HALF, y: y + HALF }, to)} />
      </svg>
    </ViewportPortal>
  );
}
