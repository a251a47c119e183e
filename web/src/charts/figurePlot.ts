/**
 * A figure of finished runs on a uPlot: its axes, its cursor, its selection, and its size.
 *
 * `paint` draws its content; `read` returns what the cursor points at. It is
 * independent of React, so that the studio and a report's page have the same figures.
 */

import uPlot from "uplot";

import { Readout, type Reading } from "./readout";
import { onThemeChange } from "./theme";
import type { Range } from "./timeAxis";

export interface Selection {
  /** Null if the whole axis was selected. */
  x: Range | null;
  y: Range | null;
}

export interface FigureOptions {
  height: number;
  axes: (element: HTMLElement) => [uPlot.Axis, uPlot.Axis];
  /** The current ends of the axes. */
  range: (axis: "x" | "y") => Range;
  isLog?: (axis: "x" | "y") => boolean;
  paint: (plot: uPlot, element: HTMLElement) => void;
  /** The reading at a position in the plotting area, in CSS pixels; null for none. */
  read: (plot: uPlot, left: number, top: number) => Reading | null;
  /** Along which axes a drag selects. */
  drag: "x" | "xy" | "none";
  select?: (selection: Selection) => void;
  reset?: () => void;
  /** Figures with the same key share a cursor, drawn as a line. */
  syncKey?: string;
}

/** Only the cursor's position is synchronised: a selection in one figure applies to all. */
const isMove: uPlot.Cursor.Sync.Filter = (type) => type === "mousemove";

/** A narrower selection counts as a click. */
const MIN_SELECTION = 5;
/** A drag narrower than this along one axis selects only along the other. */
const ONE_WAY = 24;

export class FigurePlot {
  private plot: uPlot;
  private readonly resizes: ResizeObserver;
  private readonly stopTheme: () => void;

  constructor(
    private readonly element: HTMLElement,
    private readonly options: FigureOptions,
  ) {
    element.classList.add("figure-plot");
    this.plot = this.make();
    this.resizes = new ResizeObserver(() => this.plot.setSize({ width: this.width, height: options.height }));
    this.resizes.observe(element);
    this.stopTheme = onThemeChange(() => {
      this.plot.destroy();
      this.plot = this.make();
    });
  }

  /** Redraws after a change of the axes or of the content. */
  redraw(): void {
    this.plot.batch(() => {
      for (const axis of ["x", "y"] as const) {
        const { from, to } = this.options.range(axis);
        this.plot.setScale(axis, { min: from, max: to });
      }
    });
    this.plot.redraw(true, true);
  }

  destroy(): void {
    this.resizes.disconnect();
    this.stopTheme();
    this.plot.destroy();
  }

  private get width(): number {
    return Math.max(40, this.element.clientWidth);
  }

  private make(): uPlot {
    const { options, element } = this;
    const plot = new uPlot(this.plotOptions(), [[0], [null]], element);
    plot.over.addEventListener("dblclick", () => options.reset?.());
    return plot;
  }

  private plotOptions(): uPlot.Options {
    const { options, element } = this;
    let readout: Readout | null = null;
    const scale = (axis: "x" | "y"): uPlot.Scale => ({
      time: false,
      distr: options.isLog?.(axis) === true ? 3 : 1,
      range: () => {
        const { from, to } = options.range(axis);
        return [from, to];
      },
    });
    const hasLine = options.syncKey !== undefined;
    return {
      width: this.width,
      height: options.height,
      padding: [10, 14, 0, 0],
      legend: { show: false },
      scales: { x: scale("x"), y: scale("y") },
      axes: options.axes(element),
      series: [{}, { show: false }],
      cursor: {
        x: hasLine,
        y: false,
        points: { show: false },
        drag: { x: options.drag !== "none", y: options.drag === "xy", uni: ONE_WAY, dist: MIN_SELECTION, setScale: false },
        bind: { dblclick: () => null },
        ...(options.syncKey === undefined ? {} : { sync: { key: options.syncKey, scales: ["x", null], filters: { sub: isMove } } }),
      },
      hooks: {
        ready: [(plot) => (readout = new Readout(plot.over))],
        draw: [(plot) => options.paint(plot, element)],
        setCursor: [
          (plot) => {
            const { left = -1, top = -1 } = plot.cursor;
            const reading = left < 0 ? null : options.read(plot, left, top);
            if (reading === null) readout?.hide();
            else readout?.show(reading, reading.point?.left ?? left);
          },
        ],
        setSelect: [(plot) => this.selected(plot)],
      },
    };
  }

  private selected(plot: uPlot): void {
    const { left, top, width, height } = plot.select;
    if (width <= 0 || height <= 0) return;
    const over = plot.over;
    const between = (axis: "x" | "y", one: number, other: number): Range => {
      const [first, last] = [plot.posToVal(one, axis), plot.posToVal(other, axis)];
      return { from: Math.min(first, last), to: Math.max(first, last) };
    };
    const isWide = width >= over.clientWidth - 1;
    const isHigh = height >= over.clientHeight - 1;
    const selection = {
      x: isWide || width < MIN_SELECTION ? null : between("x", left, left + width),
      y: isHigh || height < MIN_SELECTION ? null : between("y", top, top + height),
    };
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (selection.x !== null || selection.y !== null) this.options.select?.(selection);
  }
}
