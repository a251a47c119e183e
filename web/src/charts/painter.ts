/**
 * Primitives of figures: lines, bands, points, bars and rules on a chart's canvas.
 *
 * uPlot draws its own series on one sorted axis that all of them share. The lines of a
 * figure have times of their own, gaps, and points that are in no order, so they are
 * drawn here, in the scales of a uPlot. Sizes and dashes are in CSS pixels.
 */

import type uPlot from "uplot";

import type { Mark } from "./lineStyles";

export type Values = ArrayLike<number | null>;

export interface Stroke {
  colour: string;
  width: number;
  dash?: readonly number[];
  alpha?: number;
  /** A value stays until the next one. */
  steps?: boolean;
}

export interface PointStyle {
  mark: Mark;
  /** The diameter. */
  size: number;
  colour: string;
  isOpen?: boolean;
  alpha?: number;
}

/** Draws clipped to the plotting area. */
export function clipped(plot: uPlot, draw: () => void): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  draw();
  ctx.restore();
}

/** A line through points in their order; a value that is null breaks it. */
export function strokeLine(plot: uPlot, xs: ArrayLike<number>, ys: Values, style: Stroke): void {
  const { ctx } = plot;
  ctx.save();
  prepare(ctx, style);
  ctx.beginPath();
  trace(plot, ctx, xs, ys, style.steps === true);
  ctx.stroke();
  ctx.restore();
}

/** The area between two lines over the same places; a null on either breaks it. */
export function fillBand(plot: uPlot, xs: ArrayLike<number>, low: Values, high: Values, colour: string, steps = false): void {
  const { ctx } = plot;
  ctx.save();
  ctx.fillStyle = colour;
  for (const [first, end] of stretches(xs, low, high)) {
    const places = Array.from({ length: end - first }, (_, at) => first + at);
    const pick = (values: ArrayLike<number | null>) => places.map((at) => values[at] ?? 0);
    const x = pick(xs);
    ctx.beginPath();
    trace(plot, ctx, x, pick(low), steps);
    // The upper edge is walked backwards, where a step goes up before it goes left.
    trace(plot, ctx, x.reverse(), pick(high).reverse(), steps ? "backwards" : false, true);
    ctx.fill();
  }
  ctx.restore();
}

/** A shape at each point inside the axes. */
export function drawPoints(plot: uPlot, xs: ArrayLike<number>, ys: Values, style: PointStyle): void {
  const { ctx } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.globalAlpha = style.alpha ?? 1;
  ctx.strokeStyle = style.colour;
  ctx.fillStyle = style.colour;
  ctx.lineWidth = 1.4 * ratio;
  ctx.beginPath();
  for (let at = 0; at < xs.length; at += 1) {
    const x = xs[at] ?? Number.NaN;
    const y = ys[at];
    if (y === null || y === undefined || !isInside(plot, "x", x) || !isInside(plot, "y", y)) continue;
    shape(ctx, style.mark, plot.valToPos(x, "x", true), plot.valToPos(y, "y", true), (style.size / 2) * ratio);
  }
  if (style.isOpen !== true) ctx.fill();
  if (style.isOpen === true || style.mark === "plus" || style.mark === "cross") ctx.stroke();
  ctx.restore();
}

/** A vertical error bar at each point. */
export function drawBars(plot: uPlot, xs: ArrayLike<number>, low: Values, high: Values, colour: string): void {
  const { ctx } = plot;
  const half = 3 * devicePixelRatio;
  ctx.save();
  prepare(ctx, { colour, width: 1.2 });
  ctx.beginPath();
  for (let at = 0; at < xs.length; at += 1) {
    const [from, to] = [low[at], high[at]];
    if (from === null || from === undefined || to === null || to === undefined) continue;
    const x = plot.valToPos(xs[at] ?? 0, "x", true);
    const [bottom, top] = [plot.valToPos(from, "y", true), plot.valToPos(to, "y", true)];
    ctx.moveTo(x, bottom);
    ctx.lineTo(x, top);
    for (const y of [bottom, top]) {
      ctx.moveTo(x - half, y);
      ctx.lineTo(x + half, y);
    }
  }
  ctx.stroke();
  ctx.restore();
}

/** A straight line across the chart, at a value of one of its axes. */
export function strokeRule(plot: uPlot, axis: "x" | "y", value: number, style: Stroke): void {
  if (!isInside(plot, axis, value)) return;
  const { ctx, bbox } = plot;
  const at = Math.round(plot.valToPos(value, axis, true)) + 0.5;
  ctx.save();
  prepare(ctx, style);
  ctx.beginPath();
  if (axis === "y") {
    ctx.moveTo(bbox.left, at);
    ctx.lineTo(bbox.left + bbox.width, at);
  } else {
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.restore();
}

/** The ranges `[first, end)` of indices at which no value is null. */
export function stretches(xs: ArrayLike<number>, ...values: Values[]): [first: number, end: number][] {
  const found: [number, number][] = [];
  let first = -1;
  for (let at = 0; at <= xs.length; at += 1) {
    const isKnown = at < xs.length && values.every((each) => each[at] !== null && each[at] !== undefined);
    if (isKnown && first < 0) first = at;
    if (!isKnown && first >= 0) {
      found.push([first, at]);
      first = -1;
    }
  }
  return found;
}

function prepare(ctx: CanvasRenderingContext2D, { colour, width, dash = [], alpha = 1 }: Stroke): void {
  ctx.strokeStyle = colour;
  ctx.globalAlpha = alpha;
  ctx.lineWidth = width * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
}

function trace(
  plot: uPlot,
  ctx: CanvasRenderingContext2D,
  xs: ArrayLike<number>,
  ys: Values,
  steps: boolean | "backwards",
  isJoined = false,
): void {
  let last: [number, number] | null = null;
  let isFirst = !isJoined;
  for (let at = 0; at < xs.length; at += 1) {
    const value = ys[at];
    if (value === null || value === undefined) {
      last = null;
      isFirst = true;
      continue;
    }
    const x = plot.valToPos(xs[at] ?? 0, "x", true);
    const y = plot.valToPos(value, "y", true);
    if (isFirst) {
      ctx.moveTo(x, y);
    } else {
      if (last !== null && steps === true) ctx.lineTo(x, last[1]);
      if (last !== null && steps === "backwards") ctx.lineTo(last[0], y);
      ctx.lineTo(x, y);
    }
    isFirst = false;
    last = [x, y];
  }
}

function isInside(plot: uPlot, axis: "x" | "y", value: number): boolean {
  const { min, max } = plot.scales[axis] ?? {};
  if (typeof min !== "number" || typeof max !== "number") return false;
  const slack = 1e-9 * (max - min);
  return value >= min - slack && value <= max + slack;
}

function shape(ctx: CanvasRenderingContext2D, mark: Mark, x: number, y: number, r: number): void {
  const polygon = (...points: [number, number][]) => {
    points.forEach(([across, up], at) => (at === 0 ? ctx.moveTo(x + across * r, y - up * r) : ctx.lineTo(x + across * r, y - up * r)));
    ctx.closePath();
  };
  const strokes = (...ends: [number, number, number, number][]) => {
    for (const [fromX, fromY, toX, toY] of ends) {
      ctx.moveTo(x + fromX * r, y + fromY * r);
      ctx.lineTo(x + toX * r, y + toY * r);
    }
  };
  switch (mark) {
    case "circle":
      ctx.moveTo(x + r, y);
      ctx.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case "square":
      ctx.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
      break;
    case "up":
      polygon([0, 1.1], [1.05, -0.8], [-1.05, -0.8]);
      break;
    case "down":
      polygon([0, -1.1], [1.05, 0.8], [-1.05, 0.8]);
      break;
    case "left":
      polygon([-1.1, 0], [0.8, 1.05], [0.8, -1.05]);
      break;
    case "right":
      polygon([1.1, 0], [-0.8, 1.05], [-0.8, -1.05]);
      break;
    case "diamond":
      polygon([0, 1.2], [1.2, 0], [0, -1.2], [-1.2, 0]);
      break;
    case "plus":
      strokes([-1, 0, 1, 0], [0, -1, 0, 1]);
      break;
    case "cross":
      strokes([-0.85, -0.85, 0.85, 0.85], [-0.85, 0.85, 0.85, -0.85]);
      break;
  }
}
