/** A sample of a line in the style of the charts. */

import type { LineStyle } from "./lineStyles";

export function Swatch({ style: { colour, dash }, earlier = false }: { style: LineStyle; earlier?: boolean }) {
  return (
    <svg className="swatch" width="18" height="8" aria-hidden="true">
      <line
        x1="0"
        x2="18"
        y1="4"
        y2="4"
        style={{ stroke: colour }}
        strokeWidth={earlier ? 1.5 : 2.5}
        strokeDasharray={(earlier ? [4, 3] : dash).join(" ")}
        opacity={earlier ? 0.6 : 1}
      />
    </svg>
  );
}
