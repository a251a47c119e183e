/** What all charts have in common, live ones and those of runs. */

import type uPlot from "uplot";

import { byteSteps, scaleFor, tellTicks, type Unit } from "../live/quantities";
import { strokeRule } from "./painter";
import { resolveColour } from "./theme";

export const FONT = "11px system-ui, sans-serif";

/** Above the highest value there is some air; the least is always 0 or below. */
export function roomy(least: number | null, most: number | null): [number, number] {
  const top = most === null || most <= 0 ? 1 : most * 1.08;
  return [least !== null && least < 0 ? least * 1.08 : 0, top];
}

/** What all axes look like, in the page's colours. */
export function axisLook(element: HTMLElement): uPlot.Axis {
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
export function axesFor(element: HTMLElement, unit: Unit): [uPlot.Axis, uPlot.Axis] {
  const common = axisLook(element);
  return [
    { ...common, size: 24, gap: 3, space: 60, values: (_plot, ticks) => tellTicks(ticks, { divisor: 1, unit: "s" }) },
    {
      ...common,
      size: 46,
      gap: 4,
      space: 26,
      ...(unit === "bytes" && { incrs: (_plot: uPlot, _axis: number, _least: number, most: number) => byteSteps(most) }),
      values: (plot, ticks) => tellTicks(ticks, scaleFor(plot.scales["y"]?.max ?? 1, unit)),
    },
  ];
}

/** The unit beside the axis now. */
export function axisUnit(plot: uPlot, unit: Unit): string {
  return scaleFor(plot.scales["y"]?.max ?? 1, unit).unit;
}

/** A dashed level across the chart, such as a queue's limit, with its name. */
export function drawLevel(plot: uPlot, value: number, label: string, colour: string): void {
  const top = plot.scales["y"]?.max ?? 0;
  if (value > top || value <= 0) return;
  const { ctx, bbox } = plot;
  const y = Math.round(plot.valToPos(value, "y", true)) + 0.5;
  strokeRule(plot, "y", value, { colour, width: 1, dash: [2, 3] });
  ctx.save();
  ctx.fillStyle = colour;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  const hasRoomAbove = y - bbox.top > 13 * devicePixelRatio;
  ctx.textBaseline = hasRoomAbove ? "bottom" : "top";
  ctx.fillText(label, bbox.left + bbox.width - 4 * devicePixelRatio, hasRoomAbove ? y - 1 : y + 2);
  ctx.restore();
}
