/** Heat maps: a metric over two parameters, as colours, with its value if there is room. */

import type uPlot from "uplot";

import { FigurePlot } from "../charts/figurePlot";
import { axisStyle, FONT } from "../charts/options";
import { clipped } from "../charts/painter";
import type { Reading } from "../charts/readout";
import { resolveColour } from "../charts/theme";
import { nameOf } from "./axes";
import { colourAt, cssOf, inkOn, scaleBar } from "./colours";
import type { HeatFacetSpec, HeatSpec } from "../api/types";
import { element } from "./dom";
import type { Drawn } from "./lazy";
import { gridOf, panelOf, plotBox } from "./multiples";

const LETTER = 6.3;
const ROW = 34;

export class HeatMaps {
  readonly drawn: Drawn[];

  constructor(place: HTMLElement, spec: HeatSpec) {
    const { title, stops, ticks } = spec.colour;
    const height = Math.max(220, Math.min(560, 90 + spec.y.texts.length * ROW));
    this.drawn = spec.facets.map((facet) => {
      const box = plotBox(facet.title, height);
      return { root: panelOf(facet.title, box), draw: () => drawFacet(box, facet, spec, height) };
    });
    const controls = element("div", { class: "controls" }, scaleBar(title, stops, ...ticks));
    place.append(controls, gridOf(this.drawn));
  }
}

function drawFacet(box: HTMLElement, facet: HeatFacetSpec, spec: HeatSpec, height: number): void {
  const { x, y } = spec;
  new FigurePlot(box, {
    height,
    axes: (place) => [textAxis(place, x, false), textAxis(place, y, true)],
    range: (axis) => ({ from: -0.5, to: spec[axis].texts.length - 0.5 }),
    paint: (plot, place) => paint(plot, facet, spec, resolveColour(place, "var(--chart-rule)")),
    read: (plot, left, top) => read(plot, facet, spec, left, top),
    drag: "none",
  });
}

/** An axis of texts; if not all fit, some ticks have none. */
function textAxis(place: HTMLElement, { title, texts }: { title: string; texts: string[] }, isUpright: boolean): uPlot.Axis {
  const longest = Math.max(...texts.map(({ length }) => length), 1) * LETTER;
  const room = isUpright ? 18 : longest + 12;
  const style = axisStyle(place);
  return {
    ...style,
    label: title,
    gap: 4,
    splits: (plot) => {
      const across = isUpright ? plot.over.clientHeight : plot.over.clientWidth;
      const step = Math.max(1, Math.ceil((texts.length * room) / Math.max(1, across)));
      return texts.map((_, at) => at).filter((at) => at % step === 0);
    },
    values: (_plot, splits) => splits.map((at) => texts[at] ?? ""),
    grid: { show: false },
    ticks: { show: false },
    size: isUpright ? longest + 12 : 22,
  };
}

function paint(plot: uPlot, facet: HeatFacetSpec, { x, y, colour }: HeatSpec, rule: string): void {
  const { ctx, bbox } = plot;
  const [width, height] = [bbox.width / x.texts.length, bbox.height / y.texts.length];
  const longest = Math.max(...facet.text.flat().map(({ length }) => length), 0) * LETTER * devicePixelRatio;
  const hasTexts = longest + 4 * devicePixelRatio <= width && height >= 14 * devicePixelRatio;
  clipped(plot, () => {
    hatch(ctx, bbox, rule);
    ctx.font = FONT.replace(/^\d+/, (size) => String(Number(size) * devicePixelRatio));
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    facet.z.forEach((row, up) =>
      row.forEach((share, across) => {
        if (share === null) return;
        const fill = colourAt(colour.stops, share);
        const [left, top] = [bbox.left + across * width, bbox.top + bbox.height - (up + 1) * height];
        const edge = Math.min(devicePixelRatio, width / 8, height / 8);
        ctx.fillStyle = cssOf(fill);
        ctx.fillRect(left, top, width - edge, height - edge);
        if (!hasTexts) return;
        ctx.fillStyle = inkOn(fill);
        ctx.fillText(facet.text[up]?.[across] ?? "", left + width / 2, top + height / 2);
      }),
    );
  });
}

/** Hatches cells without a value. */
function hatch(ctx: CanvasRenderingContext2D, { left, top, width, height }: uPlot.BBox, colour: string): void {
  const apart = 7 * devicePixelRatio;
  ctx.strokeStyle = colour;
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  for (let at = -height; at < width; at += apart) {
    ctx.moveTo(left + at, top + height);
    ctx.lineTo(left + at + height, top);
  }
  ctx.stroke();
}

function read(plot: uPlot, facet: HeatFacetSpec, { x, y, colour }: HeatSpec, left: number, top: number): Reading | null {
  const [across, up] = [Math.round(plot.posToVal(left, "x")), Math.round(plot.posToVal(top, "y"))];
  const share = facet.z[up]?.[across];
  if (share === undefined) return null;
  const unit = colour.unit === "" ? "" : ` ${colour.unit}`;
  const value = share === null ? "no value" : `${facet.text[up]?.[across] ?? ""}${unit}`;
  return {
    heading: `${nameOf(colour)}: ${value}`,
    rows: [{ text: `${x.title}: ${x.texts[across] ?? ""}` }, { text: `${y.title}: ${y.texts[up] ?? ""}` }],
    point: { left: plot.valToPos(across, "x"), top: plot.valToPos(up, "y") },
  };
}
