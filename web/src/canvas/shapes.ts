/** The pictures of hosts, switches and routers as shapes: for the page, and for SVG files. */

import type { NodeKind } from "../documents/drawing";

export interface Shape {
  tag: "rect" | "circle" | "path";
  attributes: Record<string, string>;
}

/** In a square of 24; thin lines have a width of their own. */
export const SHAPES: Record<NodeKind, readonly Shape[]> = {
  host: [
    { tag: "rect", attributes: { x: "3", y: "4", width: "18", height: "12", rx: "1.5" } },
    { tag: "path", attributes: { d: "M9 20h6M12 16v4" } },
  ],
  switch: [
    { tag: "rect", attributes: { x: "2.5", y: "7", width: "19", height: "10", rx: "1.5" } },
    { tag: "path", attributes: { d: "M6 10.5h8m0 0-2-1.7m2 1.7-2 1.7M18 13.8h-8m0 0 2-1.7m-2 1.7 2 1.7", strokeWidth: "1.3" } },
  ],
  router: [
    { tag: "circle", attributes: { cx: "12", cy: "12", r: "9" } },
    {
      tag: "path",
      attributes: {
        d: "M12 3.8v5m0 0-1.8-1.8M12 8.8l1.8-1.8M12 20.2v-5m0 0-1.8 1.8m1.8-1.8 1.8 1.8M9 12H3.8m0 0L5.6 10.2M3.8 12l1.8 1.8M15 12h5.2m0 0-1.8-1.8m1.8 1.8-1.8 1.8",
        strokeWidth: "1.3",
      },
    },
  ],
};
