/** Phase plots: one quantity against another, with time as colour. */

import type uPlot from "uplot";

import { FigurePlot } from "../charts/figurePlot";
import { referenceDash } from "../charts/lineStyles";
import { extentOf } from "../charts/extent";
import { clipped, drawPoints, strokeLine, strokeRule } from "../charts/painter";
import { formatTime } from "../charts/panelData";
import type { Reading } from "../charts/readout";
import { onThemeChange, resolveColour } from "../charts/theme";
import type { Range } from "../charts/timeAxis";
import { axisOptions, numberText, ticksBetween } from "./axes";
import { colourAt, cssOf, scaleBar } from "./colours";
import type { AxisSpec, PhaseSpec, PhaseTrace, Stop } from "../api/types";
import type { Zoom } from "./facet";
import type { Drawn } from "./lazy";
import { panelOf, plotBox } from "./multiples";

const HEIGHT = 300;
const ROOM_ABOVE = 1.06;
const NEAR = 30;

export class PhasePlots {
  readonly drawn: Drawn[];

  constructor(place: HTMLElement, spec: PhaseSpec, stops: () => readonly Stop[], canDrag: boolean) {
    this.drawn = spec.traces.map((trace) => {
      const box = plotBox(trace.label, HEIGHT);
      const root = panelOf(trace.label, box);
      let scale = timeScale(trace, stops());
      root.append(scale);
      onThemeChange(() => {
        const next = timeScale(trace, stops());
        scale.replaceWith(next);
        scale = next;
      });
      return { root, draw: () => drawTrace(box, trace, spec, stops, canDrag) };
    });
    place.append(...this.drawn.map(({ root }) => root));
  }
}

function drawTrace(box: HTMLElement, trace: PhaseTrace, spec: PhaseSpec, stops: () => readonly Stop[], canDrag: boolean): void {
  let zoom: Zoom = { x: null, y: null };
  const axes = { x: axisOf(spec.across, trace.x, trace.marks[0]), y: axisOf(spec.up, trace.y, trace.marks[1]) };
  const whole = (axis: "x" | "y"): Range => ({ from: axes[axis].range[0], to: axes[axis].range[1] });
  const show = (next: Zoom) => {
    zoom = next;
    figure.redraw();
  };
  const figure = new FigurePlot(box, {
    height: HEIGHT,
    // All ticks are computed from the visible range.
    axes: (place) => [axisOptions(place, axes.x, false, () => zoom.x ?? whole("x")), axisOptions(place, axes.y, true, () => zoom.y ?? whole("y"))],
    range: (axis) => zoom[axis] ?? whole(axis),
    paint: (plot, place) => paint(plot, trace, stops(), (colour) => resolveColour(place, colour)),
    read: (plot, left, top) => read(plot, trace, spec, left, top),
    drag: canDrag ? "xy" : "none",
    select: ({ x, y }) => show({ x: x ?? zoom.x, y: y ?? zoom.y }),
    reset: () => show({ x: null, y: null }),
  });
}

function axisOf([title, unit]: readonly [string, string], values: readonly number[], mark: number | null): AxisSpec {
  const [, most] = extentOf(values, mark === null ? [] : [mark]) ?? [0, 1];
  const range: [number, number] = [0, most * ROOM_ABOVE || 1];
  const places = ticksBetween(...range, false);
  return { title: `${title} (${unit})`, unit, log: false, texts: false, zero: null, fence: null, range, ticks: [places, places.map(numberText)] };
}

function timeScale(trace: PhaseTrace, stops: readonly Stop[]): HTMLElement {
  const [first, last] = [trace.t[0] ?? 0, trace.t.at(-1) ?? 1];
  const ticks = ticksBetween(first, last, false);
  const shares = ticks.map((at) => (at - first) / (last - first || 1));
  return scaleBar("time (s)", stops, shares, ticks.map(numberText));
}

function paint(plot: uPlot, { x, y, t, marks }: PhaseTrace, stops: readonly Stop[], resolve: (colour: string) => string): void {
  const { ctx } = plot;
  const ink = resolve("var(--chart-text)");
  const [first, last] = [t[0] ?? 0, t.at(-1) ?? 1];
  clipped(plot, () => {
    (["x", "y"] as const).forEach((axis, place) => {
      const at = marks[place] ?? null;
      if (at !== null) strokeRule(plot, axis, at, { colour: resolve("var(--chart-ink)"), width: 1.2, dash: referenceDash(0) });
    });
    strokeLine(plot, x, y, { colour: resolve("var(--chart-rule)"), width: 1 });
    const size = 4 * devicePixelRatio;
    x.forEach((across, at) => {
      ctx.fillStyle = cssOf(colourAt(stops, ((t[at] ?? 0) - first) / (last - first || 1)));
      ctx.beginPath();
      ctx.arc(plot.valToPos(across, "x", true), plot.valToPos(y[at] ?? 0, "y", true), size / 2, 0, 2 * Math.PI);
      ctx.fill();
    });
  });
  drawPoints(plot, x.slice(0, 1), y.slice(0, 1), { mark: "circle", size: 10, colour: ink, isOpen: true });
  drawPoints(plot, x.slice(-1), y.slice(-1), { mark: "square", size: 10, colour: ink });
}

function read(plot: uPlot, { x, y, t }: PhaseTrace, { across, up }: PhaseSpec, left: number, top: number): Reading | null {
  let least = NEAR;
  let found = -1;
  x.forEach((value, at) => {
    const apart = Math.hypot(plot.valToPos(value, "x") - left, plot.valToPos(y[at] ?? 0, "y") - top);
    if (apart >= least) return;
    least = apart;
    found = at;
  });
  if (found < 0) return null;
  const [atX, atY] = [x[found] ?? 0, y[found] ?? 0];
  const span = (t.at(-1) ?? 1) - (t[0] ?? 0);
  return {
    heading: `at ${formatTime(t[found] ?? 0, span)}`,
    rows: [{ text: `${across[0]}: ${numberText(atX)} ${across[1]}` }, { text: `${up[0]}: ${numberText(atY)} ${up[1]}` }],
    point: { left: plot.valToPos(atX, "x"), top: plot.valToPos(atY, "y") },
  };
}
