/** Dragging an end of a link to another node. */

import { useCallback, useEffect, useState } from "react";
import { documentOf } from "../documents/change";
import { drawingOf } from "../documents/useDrawing";
import { moveEnd } from "./commands";
import { nodeAt } from "./keys";

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
