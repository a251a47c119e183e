/** One quantity of finished runs over time, as a figure: lines with their bands, parts and references. */

import type uPlot from "uplot";

import { unitOf } from "../live/quantities";
import { FigurePlot } from "./figurePlot";
import { figureStyle, referenceDash, type StyleIndex } from "./lineStyles";
import { axesFor } from "./options";
import { clipped, drawPoints, fillBand, strokeLine, strokeRule } from "./painter";
import { formatTime, readingOf, referencesOf, topOf } from "./panelData";
import type { PanelData, PanelLine } from "../api/types";
import type { Reading } from "./readout";
import { resolveColour } from "./theme";
import type { TimeAxis } from "./timeAxis";

export interface PanelPlotOptions {
  axis: TimeAxis;
  height: number;
  /** Whether the lines of a style are hidden now. */
  isHidden: (style_index: StyleIndex) => boolean;
  /** Panels with the same key share a cursor. */
  syncKey: string;
  /** The title of the time axis; empty for none. */
  timeTitle: string;
  /** Whether a drag selects a stretch of time: on a touch screen it scrolls the page. */
  canDrag: boolean;
}

/** A line with fewer samples shows each of them. */
const FEW = 40;

const MOMENT = { width: 1, dash: [1, 3] };
/** Events are shown at the cursor within this fraction of the visible time. */
const NEAR = 0.01;

export class PanelPlot {
  private readonly figure: FigurePlot;
  private readonly stopFollowing: () => void;

  constructor(
    element: HTMLElement,
    private readonly panel: PanelData,
    private readonly options: PanelPlotOptions,
  ) {
    const { axis, timeTitle } = options;
    const top = topOf(panel);
    this.figure = new FigurePlot(element, {
      height: options.height,
      axes: (place) => {
        const [time, quantity] = axesFor(place, unitOf(panel.unit));
        return [timeTitle === "" ? time : { ...time, label: timeTitle }, quantity];
      },
      range: (which) => (which === "x" ? axis.now : { from: 0, to: top }),
      paint: (plot, place) => this.paint(plot, place),
      read: (plot, left) => this.read(plot, left),
      drag: options.canDrag ? "x" : "none",
      select: ({ x }) => x !== null && axis.show(x),
      reset: () => axis.reset(),
      syncKey: options.syncKey,
    });
    this.stopFollowing = axis.follow(() => this.figure.redraw());
  }

  /** Redraws, after lines were hidden or shown. */
  redraw(): void {
    this.figure.redraw();
  }

  destroy(): void {
    this.stopFollowing();
    this.figure.destroy();
  }

  private get shown(): PanelLine[] {
    return this.panel.lines.filter(({ style_index }) => !this.options.isHidden(style_index));
  }

  private paint(plot: uPlot, element: HTMLElement): void {
    const ink = resolveColour(element, "var(--chart-ink)");
    clipped(plot, () => {
      referencesOf(this.panel).forEach(({ at }, rank) => {
        if (at !== null) strokeRule(plot, "y", at, { colour: ink, width: 1.2, dash: referenceDash(rank) });
      });
      for (const { at_s } of this.panel.moments) strokeRule(plot, "x", at_s, { ...MOMENT, colour: ink });
      for (const line of this.shown) paintLine(plot, line, colourOf(element, line));
    });
    // Samples at the edges are whole.
    for (const line of this.shown) paintSamples(plot, line, colourOf(element, line));
  }

  private read(plot: uPlot, left: number): Reading | null {
    const { from, to } = this.options.axis.now;
    const time = plot.posToVal(left, "x");
    const rows = this.shown.flatMap((line) => {
      const reading = readingOf(line, time, this.panel);
      if (reading === null) return [];
      return [{ text: line.label === "" ? reading : `${line.label}: ${reading}`, style: styleOf(line) }];
    });
    const near = this.panel.moments.filter(({ at_s }) => Math.abs(at_s - time) < NEAR * (to - from));
    const style = { ...MOMENT, colour: "var(--chart-ink)" };
    const happened = near.map(({ label, at_s }) => ({ text: `${formatTime(at_s, to - from)}: ${label}`, style }));
    if (rows.length + happened.length === 0) return null;
    return { heading: formatTime(time, to - from), rows: [...happened, ...rows], point: null };
  }
}

/** The style of a line in a figure; dashes would be lost in a dense one. */
export function styleOf({ style_index, dense, dots }: PanelLine): ReturnType<typeof figureStyle> {
  const style = figureStyle(style_index);
  return dense || dots ? { ...style, dash: [] } : style;
}

function colourOf(element: HTMLElement, { style_index }: PanelLine): string {
  return resolveColour(element, figureStyle(style_index).colour);
}

function paintLine(plot: uPlot, line: PanelLine, colour: string): void {
  const { times_s, values, low, high, steps } = line;
  if (low !== null && high !== null) {
    fillBand(plot, times_s, low, high, `color-mix(in srgb, ${colour} 20%, transparent)`, steps);
  }
  for (const part of line.parts) {
    strokeLine(plot, part.times_s, part.values, { colour, width: 0.8, alpha: 0.45, steps });
  }
  if (line.dots) return;
  strokeLine(plot, times_s, values, { colour, width: line.dense ? 1.3 : 2, dash: styleOf(line).dash, steps });
}

function paintSamples(plot: uPlot, line: PanelLine, colour: string): void {
  const isFew = line.times_s.length <= FEW;
  if (line.dots || isFew) {
    const size = line.dots && !isFew ? 4 : 7;
    drawPoints(plot, line.times_s, line.values, { mark: figureStyle(line.style_index).mark, size, colour, isOpen: line.dots });
  }
  const zeros = line.missing_s.map(() => 0);
  drawPoints(plot, line.missing_s, zeros, { mark: "cross", size: 8, colour });
}
