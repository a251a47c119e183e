/**
 * A link on the canvas: a line, and while traffic runs how much goes each way (a lane
 * of moving dashes). Its properties, rates and queues are in `LabelLayer.tsx`.
 */

import type { EdgeProps } from "@xyflow/react";
import { BaseEdge } from "@xyflow/react";
import { memo } from "react";
import type { DrawnLink } from "../documents/drawing";
import { useLook, type Look } from "./activityFeed";
import { useCanvas } from "./context";
import type { LinkEdgeType } from "./elements";
import type { Line } from "./geometry";
import { at, lineBetween, straight } from "./geometry";
import { rateText } from "./labels";

/** How far a direction's lane is from the line. */
const LANE = 4;

export const LinkEdge = memo(function LinkEdge({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<LinkEdgeType>) {
  if (data === undefined) return null;
  const { link, shift, problem } = data;
  const line = lineBetween({ x: sourceX, y: sourceY }, { x: targetX, y: targetY }, shift);
  const backLine = lineBetween({ x: targetX, y: targetY }, { x: sourceX, y: sourceY }, -shift);
  const classes = ["link", selected ? "link-selected" : "", problem ? "link-problem" : ""].join(" ");
  return (
    <g className={classes}>
      <BaseEdge path={straight(line.from, line.to)} className="link-line" interactionWidth={18} />
      <Direction link={link} direction={0} line={line} />
      <Direction link={link} direction={1} line={backLine} />
      {selected === true && ([0, 1] as const).map((end) => <Grip key={end} link={link} end={end} line={end === 0 ? line : backLine} />)}
    </g>
  );
});

/** An end of a selected link can be dragged to another node. */
function Grip({ link, end, line }: { link: DrawnLink; end: 0 | 1; line: Line }) {
  const { holdEnd } = useCanvas();
  const { x, y } = at(line, Math.min(14, line.length / 4));
  return (
    <circle
      className="link-grip nopan nokey"
      cx={x}
      cy={y}
      r={7}
      data-end={link.ends[end]}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.stopPropagation();
        holdEnd(link.index, end);
      }}
    >
      <title>{`Drag this end from ${link.ends[end]} to another node`}</title>
    </circle>
  );
}

function Direction({ link, direction, line }: { link: DrawnLink; direction: 0 | 1; line: Line }) {
  const { feed } = useCanvas();
  const name = link.interfaces[direction];
  const look = useLook(feed, name, rateText);
  if (look === null || look.load === 0) return null;
  return (
    <path
      d={straight(at(line, 0, LANE), at(line, line.length, LANE))}
      className={`lane lane-${laneOf(look)}`}
      style={{ strokeWidth: 1.5 + look.load * 0.35, animationDuration: `${1.6 - look.load * 0.13}s` }}
    >
      <title>{`${name} sends ${look.rate}${look.limited ? `, ${look.load * 10} % of its rate` : "; nothing limits its rate"}`}</title>
    </path>
  );
}

/** The colour by utilisation, which is undefined without a rate limit. */
function laneOf({ load, limited }: Look): "free" | "some" | "busy" | "full" {
  if (!limited) return "free";
  return load > 9 ? "full" : load > 6 ? "busy" : "some";
}
