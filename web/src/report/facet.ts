/** One of a chart's small multiples: points, lines, distributions and curves of theory of many cases. */

import type uPlot from "uplot";

import { FigurePlot } from "../charts/figurePlot";
import { figureStyle, referenceDash } from "../charts/lineStyles";
import { clipped, drawBars, drawPoints, fillBand, strokeLine, strokeRule } from "../charts/painter";
import type { Reading } from "../charts/readout";
import { resolveColour } from "../charts/theme";
import type { Range } from "../charts/timeAxis";
import { axisOptions, nameOf, numberText, placeText } from "./axes";
import type { FacetSpec, GridSpec, SeriesSpec } from "../api/types";
import { rangeOf } from "./data";
import { idOf, theoryColour } from "./gridLegend";

/** From this number of points on they are small and translucent. */
const MANY = 400;
/** Maximum number of points with error bars; more have a band. */
const FEW_BARS = 14;
/** Maximum number of points with marks. */
const FEW_MARKS = 60;
/** Maximum distance of a reading, in pixels. */
const NEAR_POINT = 30;
const NEAR_CURVE = 8;

export interface Zoom {
  x: Range | null;
  y: Range | null;
}

export interface FacetOptions {
  spec: GridSpec;
  names: readonly string[];
  height: number;
  zoom: () => Zoom;
  show: (zoom: Zoom) => void;
  isHidden: (id: string) => boolean;
  canDrag: boolean;
}

/** Points with positions on both axes; on a category axis, series are drawn side by side. */
interface Points {
  series: SeriesSpec;
  x: number[];
  y: (number | null)[];
}

export class Facet {
  private readonly figure: FigurePlot;
  private readonly many: boolean;

  constructor(
    element: HTMLElement,
    private readonly facet: FacetSpec,
    private readonly options: FacetOptions,
  ) {
    const { spec, zoom } = options;
    this.many = spec.type === "points" && facet.series.reduce((sum, { x }) => sum + x.length, 0) > MANY;
    this.figure = new FigurePlot(element, {
      height: options.height,
      axes: (place) => [axisOptions(place, spec.x, false, () => zoom().x), axisOptions(place, spec.y, true, () => zoom().y)],
      range: (axis) => zoom()[axis] ?? rangeOf(spec[axis].range),
      isLog: (axis) => spec[axis].log,
      paint: (plot, place) => this.paint(plot, (colour) => resolveColour(place, colour)),
      read: (plot, left, top) => this.read(plot, left, top),
      drag: options.canDrag ? "xy" : "none",
      // An axis without a selection keeps its range.
      select: ({ x, y }) => options.show({ x: x ?? zoom().x, y: y ?? zoom().y }),
      reset: () => options.show({ x: null, y: null }),
    });
  }

  redraw(): void {
    this.figure.redraw();
  }

  private get shown(): SeriesSpec[] {
    return this.facet.series.filter((series) => !this.options.isHidden(idOf(series)));
  }

  private measured(): Points[] {
    const { spec } = this.options;
    const measured = this.shown.filter(({ rank }) => rank === null);
    return measured.map((series, place) => {
      const isApart = spec.type === "lines" && spec.x.texts;
      const apart = isApart ? (place - (measured.length - 1) / 2) * Math.min(0.14, 0.7 / measured.length) : 0;
      return { series, x: series.x.map((value) => (value ?? Number.NaN) + apart), y: series.y };
    });
  }

  private paint(plot: uPlot, resolve: (colour: string) => string): void {
    const { spec, isHidden } = this.options;
    const light = { colour: resolve("var(--chart-ink)"), width: 1, dash: [2, 3] };
    clipped(plot, () => {
      if (spec.x.fence !== null) strokeRule(plot, "x", spec.x.fence, light);
      if (spec.type === "cdf") strokeRule(plot, "y", 0.5, light);
      for (const { rank, style_index, x, y } of this.shown) {
        if (rank === null) continue;
        const places = x.map((value) => value ?? Number.NaN);
        strokeLine(plot, places, y, { colour: resolve(theoryColour(style_index)), width: 1.4, dash: referenceDash(rank) });
      }
      for (const mark of this.facet.marks) {
        if (isHidden(idOf({ rank: mark.rank, style_index: null }))) continue;
        strokeRule(plot, mark.upright ? "x" : "y", mark.at, { colour: resolve(theoryColour(mark.style_index)), width: 1.4, dash: referenceDash(mark.rank) });
      }
      for (const points of this.measured()) this.paintLines(plot, points, resolve);
    });
    for (const points of this.measured()) this.paintPoints(plot, points, resolve);
  }

  private hasBars({ series }: Points): boolean {
    const { spec } = this.options;
    if (series.low === undefined) return false;
    return spec.x.texts || spec.type === "points" ? !this.many : series.x.length <= FEW_BARS;
  }

  private paintLines(plot: uPlot, points: Points, resolve: (colour: string) => string): void {
    const { spec } = this.options;
    const { series, x, y } = points;
    const style = figureStyle(series.style_index ?? 0);
    const colour = resolve(style.colour);
    const { low, high } = series;
    if (low !== undefined && high !== undefined) {
      if (this.hasBars(points)) drawBars(plot, x, low, high, colour);
      else if (!this.many) fillBand(plot, x, low, high, `color-mix(in srgb, ${colour} 17%, transparent)`);
    }
    if (spec.type === "points" || spec.x.texts) return;
    const stroke = { colour, width: 2, dash: style.dash };
    if (spec.type === "cdf") {
      // It begins at 0, and extends to the right at its last value.
      const end = Math.max(x.at(-1) ?? 0, plot.scales["x"]?.max ?? 0);
      strokeLine(plot, [x[0] ?? 0, ...x, end], [0, ...y, y.at(-1) ?? 0], { ...stroke, steps: true });
    } else if (spec.x.zero !== null && x[0] === spec.x.zero) {
      // A line cannot connect 0 with a logarithmic scale.
      strokeLine(plot, x.slice(1), y.slice(1), stroke);
    } else {
      strokeLine(plot, x, y, stroke);
    }
  }

  private paintPoints(plot: uPlot, { series, x, y }: Points, resolve: (colour: string) => string): void {
    const { type } = this.options.spec;
    if (type === "cdf" || (type === "lines" && x.length > FEW_MARKS)) return;
    const { mark, colour } = figureStyle(series.style_index ?? 0);
    drawPoints(plot, x, y, {
      mark,
      size: this.many ? 4 : 7,
      colour: resolve(colour),
      isOpen: type === "points" && !this.many,
      alpha: this.many ? 0.6 : 1,
    });
  }

  private read(plot: uPlot, left: number, top: number): Reading | null {
    let found: { points: Points; at: number; left: number; top: number } | null = null;
    let least = NEAR_POINT;
    for (const points of this.measured()) {
      points.x.forEach((x, at) => {
        const y = points.y[at];
        if (y === null || y === undefined) return;
        const [across, down] = [plot.valToPos(x, "x"), plot.valToPos(y, "y")];
        const apart = Math.hypot(across - left, down - top);
        if (apart >= least) return;
        least = apart;
        found = { points, at, left: across, top: down };
      });
    }
    const nearest = found as { points: Points; at: number; left: number; top: number } | null;
    if (nearest !== null) {
      const [heading = "", ...rows] = this.words(nearest.points.series, nearest.at);
      return { heading, rows: rows.map((text) => ({ text })), point: nearest };
    }
    const curve = this.shown.find((series) => series.rank !== null && this.isOn(plot, series, left, top));
    if (curve !== undefined) return { heading: curve.label, rows: [], point: null };
    const mark = this.facet.marks.find(({ at, upright, rank }) => {
      if (this.options.isHidden(idOf({ rank, style_index: null }))) return false;
      const place = plot.valToPos(at, upright ? "x" : "y");
      return Math.abs(place - (upright ? left : top)) < NEAR_CURVE;
    });
    if (mark === undefined) return null;
    const axis = mark.upright ? this.options.spec.x : this.options.spec.y;
    return { heading: mark.label, rows: [{ text: `${nameOf(axis)}: ${placeText(axis, mark.at)}` }], point: null };
  }

  /** Whether a curve passes near a position. */
  private isOn(plot: uPlot, { x, y }: SeriesSpec, left: number, top: number): boolean {
    for (let at = 1; at < x.length; at += 1) {
      const ends = [x[at - 1], y[at - 1], x[at], y[at]];
      const [fromX, fromY, toX, toY] = ends;
      if (typeof fromX !== "number" || typeof fromY !== "number" || typeof toX !== "number" || typeof toY !== "number") continue;
      const [start, end] = [plot.valToPos(fromX, "x"), plot.valToPos(toX, "x")];
      if (left < Math.min(start, end) || left > Math.max(start, end)) continue;
      const way = end === start ? 0 : (left - start) / (end - start);
      const height = plot.valToPos(fromY, "y") * (1 - way) + plot.valToPos(toY, "y") * way;
      if (Math.abs(height - top) < NEAR_CURVE) return true;
    }
    return false;
  }

  /** The reading of a point: its case, series, values and spread. */
  private words(series: SeriesSpec, at: number): string[] {
    const { spec, names } = this.options;
    const { x, y, type } = spec;
    const height = series.y[at] ?? 0;
    const lines: string[] = [];
    const name = series.names?.[at];
    if (name !== undefined) lines.push(names[name] ?? "");
    if (series.label !== "") lines.push(series.label);
    lines.push(`${nameOf(x)}: ${placeText(x, series.x[at] ?? 0)}`);
    const [low, high] = [series.low?.[at], series.high?.[at]];
    const hasSpread = typeof low === "number" && typeof high === "number" && low !== high;
    const spread = hasSpread ? ` (5-95 %: ${placeText(y, low)} to ${placeText(y, high)})` : "";
    lines.push(`${nameOf(y)}: ${type === "cdf" ? `${numberText(height * 100)} %` : placeText(y, height)}${spread}`);
    return lines;
  }
}
