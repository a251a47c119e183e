/** A flow on the canvas: a dashed bow with an arrow, from the host that sends to the other. */

import type { EdgeProps } from "@xyflow/react";
import { BaseEdge } from "@xyflow/react";
import { memo } from "react";
import { styleOf } from "../charts/lineStyles";
import { useCanvas } from "./context";
import type { FlowEdgeType } from "./elements";
import { bowOf } from "./geometry";

export const FlowEdge = memo(function FlowEdge({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<FlowEdgeType>) {
  const { flowStyles } = useCanvas();
  if (data === undefined) return null;
  // A flow has the colour of its line in the charts.
  const styleIndex = flowStyles.get(data.flow.name);
  const { path } = bowOf({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, data);
  return (
    <g className={selected ? "flow flow-selected" : "flow"}>
      <BaseEdge path={path} className="flow-line" {...(styleIndex !== undefined && !selected && { style: { stroke: styleOf(styleIndex).colour } })} markerEnd={`url(#${selected ? "flow-arrow-selected" : "flow-arrow"})`} interactionWidth={18} />
    </g>
  );
});

/** The arrows' heads, once for all flows. */
export function FlowArrows() {
  return (
    <svg className="flow-arrows" aria-hidden="true">
      <defs>
        {["flow-arrow", "flow-arrow-selected"].map((id) => (
          <marker key={id} id={id} viewBox="0 0 10 10" refX="8" refY="5" markerWidth="8" markerHeight="8" orient="auto" markerUnits="userSpaceOnUse">
            <path d="M0 0 10 5 0 10Z" className={id} />
          </marker>
        ))}
      </defs>
    </svg>
  );
}
