/** Options common to all charts, live and of runs. */

import type uPlot from "uplot";

import { byteSteps, scaleFor, formatNumber, formatTicks, type Scale, type Unit } from "../live/quantities";
import { lengthInside, type Box, type Size, type Stroke } from "../canvas/placement";
import { strokeLine } from "./painter";
import { resolveColour } from "./theme";

export const FONT = "11px system-ui, sans-serif";

/** The axis range: some margin above the maximum; the minimum is 0 or below. */
export function roomy(least: number | null, most: number | null): [number, number] {
  const top = most === null || most <= 0 ? 1 : most * 1.08;
  return [least !== null && least < 0 ? least * 1.08 : 0, top];
}

/** The same for a logarithmic axis: down to the smallest value above 0, but at most five decades. */
export function roomyLog(least: number | null, most: number | null): [number, number] {
  const top = most === null || most <= 0 ? 1 : most;
  const bottom = least === null || least <= 0 ? top / 1e3 : Math.max(least, top / 1e5);
  return [Math.min(bottom / 1.3, top / 10), top * 1.3];
}

/** The ticks of a logarithmic axis: round in its unit, and few enough that their labels fit. */
export function logTicks(least: number, most: number, divisor: number): number[] {
  const [first, last] = [Math.log10(least / divisor), Math.log10(most / divisor)];
  const steps = last - first > 2 ? [1] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(first); power <= last; power += 1) {
    ticks.push(...steps.map((step) => step * 10 ** power * divisor));
  }
  return ticks.filter((tick) => tick >= least && tick <= most);
}

function unitScale(plot: uPlot, unit: Unit): Scale {
  return scaleFor(plot.scales["y"]?.max ?? 1, unit);
}

/** The style of all axes, in the page's colours. */
export function axisStyle(element: HTMLElement): uPlot.Axis {
  const rule = resolveColour(element, "var(--chart-rule)");
  return {
    stroke: resolveColour(element, "var(--chart-ink)"),
    font: FONT,
    labelFont: FONT,
    labelSize: 20,
    labelGap: 2,
    grid: { stroke: rule, width: 1 },
    ticks: { stroke: rule, width: 1, size: 4 },
  };
}

/** Axes of time below and of a quantity at the left. */
export function axesFor(element: HTMLElement, unit: Unit, isLog = false): [uPlot.Axis, uPlot.Axis] {
  const common = axisStyle(element);
  return [
    { ...common, size: 24, gap: 3, space: 60, values: (_plot, ticks) => formatTicks(ticks, { divisor: 1, unit: "s" }) },
    {
      ...common,
      size: 46,
      gap: 4,
      space: 26,
      ...(unit === "bytes" && !isLog && { incrs: (_plot: uPlot, _axis: number, _least: number, most: number) => byteSteps(most) }),
      ...(isLog && {
        splits: (plot: uPlot, _axis: number, least: number, most: number) => logTicks(least, most, unitScale(plot, unit).divisor),
        filter: (_plot: uPlot, ticks: number[]) => ticks,
      }),
      values: (plot, ticks) => {
        const scale = unitScale(plot, unit);
        return isLog ? ticks.map((tick) => formatNumber(tick / scale.divisor)) : formatTicks(ticks, scale);
      },
    },
  ];
}

/** The unit currently shown beside the axis. */
export function axisUnit(plot: uPlot, unit: Unit): string {
  return scaleFor(plot.scales["y"]?.max ?? 1, unit).unit;
}

export interface LevelStyle {
  value: number;
  label: string;
  colour: string;
  /** The background of the label. */
  ground: string;
  dash: readonly number[];
  /** The time range where it is valid; without, the whole axis. */
  from?: number;
  to?: number;
}

/** A dashed level across the chart, such as a queue's limit, with its name. */
export function drawLevel(plot: uPlot, { value, label, colour, ground, dash, from, to }: LevelStyle): void {
  const top = plot.scales["y"]?.max ?? 0;
  if (value > top || value <= 0) return;
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
  const x = plot.scales["x"] ?? {};
  const ends = [Math.max(from ?? -Infinity, x.min ?? 0), Math.min(to ?? Infinity, x.max ?? 0)] as const;
  if (ends[0] >= ends[1]) return;
  strokeLine(plot, ends, [value, value], { colour, width: 1, dash });
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  const size = { width: ctx.measureText(label).width, height: LEVEL_LABEL * devicePixelRatio };
  const edges = ends.map((end) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(end, "x", true))));
  const box = levelBox(size, { left: edges[0] ?? 0, right: edges[1] ?? 0, top: bbox.top, bottom: bbox.top + bbox.height }, y, segmentsOf(plot, y, size.height));
  // Where all places are taken, the label is over a line.
  ctx.strokeStyle = ground;
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.strokeText(label, box.x, box.y + devicePixelRatio);
  ctx.fillText(label, box.x, box.y + devicePixelRatio);
  ctx.restore();
}

/** The height of a level's label, with the gap to its line, in CSS pixels. */
export const LEVEL_LABEL = 13;

type Segment = Pick<Stroke, "from" | "to">;

interface Area {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A place for a level's label, above or below its line, where it covers the least of the curves. */
export function levelBox(size: Size, { left, right, top, bottom }: Area, y: number, segments: readonly Segment[]): Box {
  const gap = 4;
  const across = [right - size.width - gap, left + gap, (left + right - size.width) / 2];
  const boxes = [y - size.height, y + 1]
    .filter((at) => at >= top && at + size.height <= bottom)
    .flatMap((at) => across.filter((x) => x >= left).map((x) => ({ x, y: at, ...size })));
  const covered = (box: Box) => segments.reduce((sum, segment) => sum + lengthInside(segment, box), 0);
  let best: { box: Box; cost: number } | null = null;
  for (const box of boxes) {
    const cost = covered(box);
    if (best === null || cost < best.cost) best = { box, cost };
    if (cost === 0) break;
  }
  return best?.box ?? { x: right - size.width - gap, y: Math.max(top, y - size.height), ...size };
}

/** What is drawn of the lines up to a distance above and below a height, in pixels of the canvas. */
function segmentsOf(plot: uPlot, y: number, distance: number): Segment[] {
  const [xs = [], ...columns] = plot.data;
  const found: Segment[] = [];
  for (const column of columns) {
    let from: Segment["from"] | null = null;
    column.forEach((value, at) => {
      // Between samples that are shown as such the line goes on; a null is a gap.
      if (value === undefined) return;
      const to: Segment["to"] | null = value === null ? null : { x: plot.valToPos(xs[at] ?? 0, "x", true), y: plot.valToPos(value, "y", true) };
      if (from !== null && to !== null && Math.min(from.y, to.y) <= y + distance + 1 && Math.max(from.y, to.y) >= y - distance) found.push({ from, to });
      from = to;
    });
  }
  return found;
}
