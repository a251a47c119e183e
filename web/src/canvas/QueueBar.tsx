/** A bar at the sending end of a link: its queue's fill level and drops. */

import { useLook } from "./activityFeed";
import { useCanvas } from "./context";
import type { Line } from "./geometry";
import { at } from "./geometry";
import { rateText } from "./labels";

interface QueueBarProps {
  /** The interface. */
  name: string;
  /** From the end that sends to the other. */
  line: Line;
}

export function QueueBar({ name, line }: QueueBarProps) {
  const { feed } = useCanvas();
  const look = useLook(feed, name, rateText);
  if (look === null || (look.fill === 0 && look.drops === 0)) return null;
  const { x, y } = at(line, 8, 14);
  const height = 20;
  const isRight = line.along.x >= 0;
  const filled = (look.fill / 20) * height;
  return (
    <g className={look.drops > 0 ? "queue queue-drops" : "queue"}>
      <title>{`Queue of ${name}: ${Math.round(look.fill * 5)} % full${look.drops > 0 ? `, ${look.drops} packets dropped` : ""}`}</title>
      <rect className="queue-frame" x={x - 4} y={y - height / 2} width={8} height={height} rx={1.5} />
      <rect className={look.fill > 16 ? "queue-fill queue-high" : "queue-fill"} x={x - 3} y={y + height / 2 - filled} width={6} height={filled} />
      {look.drops > 0 && (
        // Beside the bar, away from the node: over it runs the line.
        <text className="queue-lost" x={x + (isRight ? 8 : -8)} y={y + 4} textAnchor={isRight ? "start" : "end"}>
          ✕ {look.drops}
        </text>
      )}
    </g>
  );
}
