/**
 * The labels of links and flows, over all lines, where `placedLabels.ts` has put them,
 * and the bars of the queues.
 *
 * They are separate from the lines that they describe: so an edge's bounding box
 * is that of its line, and no flow's curve is drawn over a text.
 */

import { ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import { useLook } from "./activityFeed";
import { useCanvas } from "./context";
import type { CanvasEdge, CanvasNode } from "./elements";
import { at, reversed } from "./geometry";
import type { Line } from "./geometry";
import { rateText } from "./labels";
import { QUEUE, ROW, placeLabels } from "./placedLabels";
import type { PlacedLabel, PlacedLink, PlacedRates } from "./placedLabels";

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
  const { x, y } = at(line, QUEUE.along, QUEUE.aside);
  const { width, height } = QUEUE;
  const isRight = line.along.x >= 0;
  const filled = (look.fill / 20) * height;
  return (
    <g className={look.drops > 0 ? "queue queue-drops" : "queue"}>
      <title>{`Queue of ${name}: ${Math.round(look.fill * 5)} % full${look.drops > 0 ? `, ${look.drops} packets dropped` : ""}`}</title>
      <rect className="queue-frame" x={x - width / 2} y={y - height / 2} width={width} height={height} rx={1.5} />
      <rect className={look.fill > 16 ? "queue-fill queue-high" : "queue-fill"} x={x - width / 2 + 1} y={y + height / 2 - filled} width={width - 2} height={filled} />
      {look.drops > 0 && (
        // Beside the bar, away from the node: over it runs the line.
        <text className="queue-lost" x={x + (isRight ? QUEUE.text : -QUEUE.text)} y={y + 4} textAnchor={isRight ? "start" : "end"}>
          ✕ {look.drops}
        </text>
      )}
    </g>
  );
}

interface LabelLayerProps {
  nodes: readonly CanvasNode[];
  edges: readonly CanvasEdge[];
}

export function LabelLayer({ nodes, edges }: LabelLayerProps) {
  const { showsAddresses } = useCanvas();
  const { labels, rates, links } = useMemo(() => placeLabels(nodes, edges, showsAddresses), [nodes, edges, showsAddresses]);
  return (
    <ViewportPortal>
      {/* Their text is part of the accessible names of links and flows too. */}
      <svg className="label-layer" aria-hidden="true">
        {labels.map((label) => (
          <Label key={label.id} label={label} />
        ))}
        {rates.map((one) => (
          <Rates key={one.edge.id} {...one} />
        ))}
        {links.map(({ edge, line }) => (
          <Queues key={edge.id} edge={edge} line={line} />
        ))}
      </svg>
    </ViewportPortal>
  );
}

function Label({ label: { kind, lines, box, selected } }: { label: PlacedLabel }) {
  return (
    <>
      {lines.map((text, index) => (
        <text
          key={index}
          className={`${kind}-label${selected ? " label-selected" : ""}`}
          x={box.x + box.width / 2}
          y={box.y + 10.5 + index * ROW}
          textAnchor="middle"
        >
          {text}
        </text>
      ))}
    </>
  );
}

/** What a link carries each way. */
const Rates = memo(function Rates({ edge, line, box }: PlacedRates) {
  const link = edge.data?.link;
  if (link === undefined) return null;
  const steep = Math.abs(line.along.y) > 0.8;
  const arrows = steep ? ["↓", "↑"] : ["→", "←"];
  // The direction to the right, or down, comes first, whichever end was named first.
  const isForward = steep ? line.along.y > 0 : line.along.x > 0;
  return (
    <>
      {([0, 1] as const).map((row) => {
        const direction = isForward === (row === 0) ? 0 : 1;
        return (
          <Rate
            key={direction}
            name={link.interfaces[direction]}
            arrow={arrows[row] ?? ""}
            x={box.x + box.width / 2}
            y={box.y + 10.5 + row * ROW}
          />
        );
      })}
    </>
  );
});

/** How full a link's two queues are. */
const Queues = memo(function Queues({ edge, line }: PlacedLink) {
  const link = edge.data?.link;
  if (link === undefined) return null;
  return ([0, 1] as const).map((direction) => (
    <QueueBar
      key={direction}
      name={link.interfaces[direction]}
      line={direction === 0 ? line : reversed(line)}
    />
  ));
});

interface RateProps {
  name: string;
  arrow: string;
  x: number;
  y: number;
}

function Rate({ name, arrow, x, y }: RateProps) {
  const { feed } = useCanvas();
  const look = useLook(feed, name, rateText);
  if (look === null || look.rate === "" || look.load === 0) return null;
  return (
    <text className="lane-rate" x={x} y={y} textAnchor="middle">
      {`${arrow} ${look.rate}`}
    </text>
  );
}
