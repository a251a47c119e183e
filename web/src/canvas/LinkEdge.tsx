/**
 * A link on the canvas: a line, its properties, and while traffic runs how much goes
 * each way (a lane of moving dashes), how full the queues are, and what is dropped.
 */

import type { EdgeProps } from "@xyflow/react";
import { BaseEdge } from "@xyflow/react";
import { memo } from "react";
import { effective } from "../documents/drawing";
import type { DrawnLink } from "../documents/drawing";
import type { Look } from "./activityFeed";
import { useLook } from "./activityFeed";
import { useCanvas } from "./context";
import type { LinkEdgeType } from "./elements";
import type { Line } from "./geometry";
import { at, lineBetween, straight } from "./geometry";
import { linkLabel, rateOf, rateText } from "./labels";

/** How far a direction's lane is from the line. */
const LANE = 4;

export const LinkEdge = memo(function LinkEdge({ sourceX, sourceY, targetX, targetY, data, selected }: EdgeProps<LinkEdgeType>) {
  const { showsAddresses } = useCanvas();
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
      <LinkLabel link={link} line={line} />
      {showsAddresses && <End link={link} end={0} line={line} />}
      {showsAddresses && <End link={link} end={1} line={backLine} />}
    </g>
  );
});

function LinkLabel({ link, line }: { link: DrawnLink; line: Line }) {
  // Above a level line, and beside a steep one.
  const steep = Math.abs(line.along.y) > 0.8;
  const lines = linkLabel(link, steep ? 200 : line.length * Math.abs(line.along.x));
  const { x, y } = at(line, line.length / 2);
  return (
    <>
      {lines.map((text, index) => (
        <text
          key={index}
          className="link-label"
          x={steep ? x + 12 : x}
          y={steep ? y + 4 + index * 14 : y - 12 - (lines.length - 1 - index) * 14}
          textAnchor={steep ? "start" : "middle"}
        >
          {text}
        </text>
      ))}
    </>
  );
}

/** The name and address of an interface, beside its end of the line. */
function End({ link, end, line }: { link: DrawnLink; end: 0 | 1; line: Line }) {
  const { x, y } = at(line, 10);
  const below = Math.abs(line.along.y) < 0.8;
  const anchor = line.along.x >= 0 ? "start" : "end";
  const address = link.addresses[end];
  return (
    <text className="link-end" x={below ? x : x + (line.along.x >= 0 ? 8 : -8)} y={below ? y + 14 : y + 10 * Math.sign(line.along.y)} textAnchor={anchor}>
      {link.interfaces[end]}
      {address !== null && ` ${address}`}
    </text>
  );
}

function Direction({ link, direction, line }: { link: DrawnLink; direction: 0 | 1; line: Line }) {
  const { feed, showsAddresses } = useCanvas();
  const rate = rateOf(effective(link, direction)["rate"]);
  const look = useLook(feed, link.interfaces[direction], rate, rateText);
  if (look === null) return null;
  const from = at(line, 0, LANE);
  const to = at(line, line.length, LANE);
  // Below the line, or at the left of a steep one: the properties are on the other side.
  const steep = Math.abs(line.along.y) > 0.8;
  const middle = at(line, line.length / 2);
  const row = (line.along.x > 0.01 || (steep && line.along.y > 0) ? 0 : 1) + (showsAddresses && !steep ? 1 : 0);
  const arrow = steep ? (line.along.y > 0 ? "↓" : "↑") : line.along.x > 0 ? "→" : "←";
  return (
    <>
      {look.load > 0 && (
        <path
          d={straight(from, to)}
          className={`lane lane-${look.load > 9 ? "full" : look.load > 6 ? "busy" : "some"}`}
          style={{ strokeWidth: 1.5 + look.load * 0.35, animationDuration: `${1.6 - look.load * 0.13}s` }}
        />
      )}
      {look.rate !== "" && line.length > 70 && look.load > 0 && (
        <text
          className="lane-rate"
          x={steep ? middle.x - 14 : middle.x}
          y={steep ? middle.y - 4 + row * 14 : middle.y + 20 + row * 14 + 16 * Math.abs(line.along.y)}
          textAnchor={steep ? "end" : "middle"}
        >
          {`${arrow} ${look.rate}`}
        </text>
      )}
      <Queue look={look} line={line} name={link.interfaces[direction]} />
    </>
  );
}

/** A bar at the end that sends: as full as its queue. */
function Queue({ look, line, name }: { look: Look; line: Line; name: string }) {
  if (look.fill === 0 && look.drops === 0) return null;
  const { x, y } = at(line, 8, 14);
  const height = 20;
  const filled = (look.fill / 20) * height;
  return (
    <g className={look.drops > 0 ? "queue queue-drops" : "queue"}>
      <title>{`Queue of ${name}: ${Math.round(look.fill * 5)} % full${look.drops > 0 ? `, ${look.drops} packets dropped` : ""}`}</title>
      <rect className="queue-frame" x={x - 4} y={y - height / 2} width={8} height={height} rx={1.5} />
      <rect className={look.fill > 16 ? "queue-fill queue-high" : "queue-fill"} x={x - 3} y={y + height / 2 - filled} width={6} height={filled} />
      {look.drops > 0 && (
        <text className="queue-lost" x={x} y={y - height / 2 - 4} textAnchor="middle">
          ✕ {look.drops}
        </text>
      )}
    </g>
  );
}
