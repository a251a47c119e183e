/**
 * One live chart on its canvas: uPlot, fed from the session's seriesStore.
 *
 * It is independent of React: it is made when the lines change, drawn by the
 * ticker, and sized by its element.
 */

import uPlot from "uplot";

import type { Mark } from "../api/types";
import type { SeriesStore } from "../live/seriesStore";
import type { AppendOnlySeries } from "../live/appendOnlySeries";
import { formatQuantity } from "../live/quantities";
import { decimate } from "./decimate";
import { referenceDash, styleOf } from "./lineStyles";
import { axesFor, axisUnit, drawLevel, LEVEL_LABEL, roomy, roomyLog } from "./options";
import { strokeRule } from "./painter";
import type { LineSpec, PanelSpec } from "./panels";
import { resolveColour } from "./theme";
import { rangeOf, type ChartState, type ChartView } from "./view";

/** Lines with fewer than one sample in this many pixels show them as points. */
const POINTS_APART = 9;

/** A multiple of the data; levels above it are listed and not drawn. */
export const FAR = 4;

/** A multiple of the data; limits above it are not drawn. */
const NEAR_LIMIT = 1.08;

const MARK_COLOURS = { change: "var(--accent)", command: "var(--fg-dim)", event: "var(--flow)" };

export class LivePlot {
  readonly plot: uPlot;
  private counts: number[] = [];
  /** The time of the packet that the pointer is over, outside of the charts. */
  private packet_s: number | null = null;
  private readonly stopFollowing: () => void;
  /** The largest limit of a line: the scale of an empty queue. */
  private readonly limit: number;
  /** How many samples of a line were checked to be 0; null once one was larger. */
  private readonly zeros = new Map<LineSpec, number | null>();
  private readonly bad: string;
  private readonly accent: string;
  private readonly dim: string;
  private readonly ground: string;
  private readonly marks: Record<Mark["kind"], string>;
  private readonly isLog: boolean;
  /** The largest visible value. */
  private most = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly panel: PanelSpec,
    private readonly seriesStore: SeriesStore,
    private readonly view: ChartView,
    private readonly onUnit: (unit: string) => void,
  ) {
    this.limit = Math.max(0, ...panel.lines.map((line) => line.limit ?? 0));
    this.bad = resolveColour(element, "var(--bad)");
    this.accent = resolveColour(element, "var(--accent)");
    this.dim = resolveColour(element, "var(--fg-dim)");
    this.ground = resolveColour(element, "var(--bg)");
    this.marks = {
      change: resolveColour(element, MARK_COLOURS.change),
      command: resolveColour(element, MARK_COLOURS.command),
      event: resolveColour(element, MARK_COLOURS.event),
    };
    this.isLog = view.store.getState().log;
    this.plot = new uPlot(this.options(), [[0], ...panel.lines.map(() => [null])], element);
    // The wheel and the second button are left to the page; a double click resets the zoom.
    this.plot.over.addEventListener("dblclick", () => view.store.setState({ zoom: null, follow_s: null }));
    this.stopFollowing = view.store.subscribe((state) => this.followPackets(state));
    this.packet_s = view.store.getState().hoverFrom === "packets" ? view.store.getState().hover : null;
  }

  /** Moves the cursor to the hovered packet; uPlot moves it only with the pointer. */
  private placeCursor(): void {
    const { packet_s, plot } = this;
    const left = packet_s === null ? -10 : plot.valToPos(packet_s + this.panel.origin_s, "x");
    plot.setCursor(left >= 0 && left <= plot.over.clientWidth ? { left, top: 0 } : { left: -10, top: -10 }, false);
  }

  private followPackets({ hover, hoverFrom }: ChartState): void {
    const packet_s = hoverFrom === "packets" ? hover : null;
    if (packet_s === this.packet_s) return;
    this.packet_s = packet_s;
    this.placeCursor();
  }

  /** Draws the current data. */
  draw(): void {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (width < 40 || height < 40) return;
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({ width, height });
    const { hidden, ...state } = this.view.store.getState();
    const range = rangeOf({ hidden, ...state }, this.view.end_s);
    const lines = this.panel.lines.map((line) => (hidden.has(line.of) ? undefined : this.series(line)));
    const pixels = this.plot.over.clientWidth || width;
    const { xs, columns, counts } = decimate(lines, range.from, range.to, pixels);
    this.counts = counts;
    const { origin_s } = this.panel;
    this.most = columns.reduce((most, column) => column.reduce<number>((top, value) => Math.max(top, value ?? 0), most), 0);
    // On a logarithmic axis there is no 0.
    const shown = this.isLog ? columns.map((column) => column.map((value) => (value === 0 ? null : value))) : columns;
    this.plot.batch(() => {
      this.plot.setData([xs.map((time) => time + origin_s), ...shown], false);
      this.plot.setScale("x", { min: range.from + origin_s, max: range.to + origin_s });
    });
    if (this.packet_s !== null) this.placeCursor();
    this.onUnit(axisUnit(this.plot, this.panel.unit));
  }

  destroy(): void {
    this.stopFollowing();
    this.plot.destroy();
  }

  private series(line: LineSpec): AppendOnlySeries | undefined {
    return this.seriesStore.get(line.recording, line.key);
  }

  private options(): uPlot.Options {
    const { element, panel, view } = this;
    return {
      width: Math.max(40, element.clientWidth),
      height: Math.max(40, element.clientHeight),
      padding: [8, 10, 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false },
        y: { distr: this.isLog ? 3 : 1, range: (_plot, least, most) => this.range(least, most) },
      },
      axes: axesFor(element, panel.unit, this.isLog),
      series: [{}, ...panel.lines.map((line, index) => this.lineOptions(line, index))],
      cursor: {
        sync: { key: syncKeyOf(view), scales: ["x", null] },
        drag: { x: true, y: false, setScale: false },
        points: { show: false },
        bind: { dblclick: () => null },
      },
      hooks: {
        setCursor: [(plot) => this.hovered(plot)],
        setSelect: [(plot) => this.selected(plot)],
        draw: [(plot) => this.drawMarks(plot)],
      },
    };
  }

  /** The ends of the axis: room for the lines, and for levels that are not far above them. */
  private range(least: number | null, most: number | null): [number, number] {
    const shared = this.panel.values;
    if (shared !== undefined) return this.isLog ? roomyLog(shared.least, shared.most) : roomy(least, shared.most);
    // With room for a level's label above it.
    const room = 1 + LEVEL_LABEL / Math.max(LEVEL_LABEL * 2, this.element.clientHeight - 2 * LEVEL_LABEL);
    const near = this.panel.levels.map(({ value }) => value ?? 0).filter((value) => value <= FAR * (most ?? 0));
    const limits = this.panel.lines.map(({ limit }) => limit ?? 0).filter((value) => value <= NEAR_LIMIT * (most ?? 0));
    const top = Math.max(most ?? 0, ...[...near, ...limits].map((value) => value * room));
    if (this.isLog) return roomyLog(least, top);
    return roomy(least, top === 0 ? this.limit : top);
  }

  private lineOptions(line: LineSpec, index: number): uPlot.Series {
    const { colour, dash } = styleOf(line.style_index);
    const stroke = resolveColour(this.element, colour);
    return {
      stroke,
      width: line.earlier ? 1 : 1.6,
      alpha: line.earlier ? 0.55 : 1,
      dash: line.earlier ? [4, 4] : dash,
      spanGaps: false,
      points: {
        size: 5,
        fill: stroke,
        show: (plot) => (this.counts[index] ?? 0) * POINTS_APART < plot.over.clientWidth,
      },
    };
  }

  private hovered(plot: uPlot): void {
    const left = plot.cursor.left ?? -1;
    const { hover: known, hoverFrom } = this.view.store.getState();
    // The cursor is at a packet: uPlot reports it again with each redraw.
    if (hoverFrom === "packets") return;
    const hover = left < 0 ? null : plot.posToVal(left, "x") - this.panel.origin_s;
    if (known !== hover) this.view.store.setState({ hover, hoverFrom: hover === null ? null : "charts" });
  }

  private selected(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    const at = (place: number) => plot.posToVal(place, "x") - this.panel.origin_s;
    const zoom = { from: at(left), to: at(left + width) };
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.view.store.setState({ zoom });
  }

  /** Limits and levels, events, and drops as red marks at the upper edge. */
  private drawMarks(plot: uPlot): void {
    const { hidden } = this.view.store.getState();
    const { origin_s, marks, dropKeys, latest } = this.panel;
    for (const { kind, at_s } of marks) {
      strokeRule(plot, "x", at_s + origin_s, { colour: this.marks[kind], width: 1, dash: [3, 3] });
    }
    const { at } = this.view.store.getState();
    if (at !== null) strokeRule(plot, "x", at + origin_s, { colour: this.accent, width: 2, dash: [] });
    for (const key of dropKeys) {
      if (!hidden.has(key.split(":")[1] ?? "")) this.drawDrops(plot, latest, key);
    }
    this.drawLevels(plot);
    const limits = new Map<number, string[]>();
    for (const line of this.panel.lines) {
      if (hidden.has(line.of)) continue;
      if (line.limit !== null && !this.isQuiet(line)) limits.set(line.limit, [...(limits.get(line.limit) ?? []), line.of]);
      if (line.drops !== null && line.recording !== latest) this.drawDrops(plot, line.recording, line.drops);
    }
    for (const [limit, names] of limits) {
      const whose = limits.size > 1 ? `${names[0] ?? ""}${names.length > 1 ? ", …" : ""}: ` : "";
      const label = `${whose}limit ${formatQuantity(limit, this.panel.unit)}`;
      drawLevel(plot, { value: limit, label, colour: this.dim, ground: this.ground, dash: [2, 3] });
    }
  }

  /** Reference levels, each for the time that it is valid. */
  private drawLevels(plot: uPlot): void {
    const { levels, origin_s, unit } = this.panel;
    levels.forEach(({ label, value, from_s }, place) => {
      if (value === null || value > FAR * this.most) return;
      const next = levels[place + 1];
      drawLevel(plot, {
        value,
        label: `${label} ${formatQuantity(value, unit)}`,
        colour: this.dim,
        ground: this.ground,
        dash: referenceDash(0),
        from: from_s + origin_s,
        ...(next !== undefined && { to: next.from_s + origin_s }),
      });
    });
  }

  /** A queue that was always empty: its limit would only be in the way. */
  private isQuiet(line: LineSpec): boolean {
    let zeros = this.zeros.get(line) ?? 0;
    if (this.zeros.get(line) === null) return false;
    const values = this.series(line)?.values ?? [];
    while (zeros < values.length && !((values[zeros] ?? 0) > 0)) zeros += 1;
    this.zeros.set(line, zeros < values.length ? null : zeros);
    return zeros >= values.length;
  }

  private drawDrops(plot: uPlot, recording: number, key: string): void {
    const drops = this.seriesStore.get(recording, key);
    const { min: first, max: end } = plot.scales["x"] ?? {};
    if (drops === undefined || first === undefined || end === undefined) return;
    const [min, max] = [first - this.panel.origin_s, end - this.panel.origin_s];
    const { ctx, bbox } = plot;
    const { times, values } = drops;
    const size = 4 * devicePixelRatio;
    let lastX = Number.NEGATIVE_INFINITY;
    ctx.save();
    ctx.fillStyle = this.bad;
    for (let at = Math.max(1, drops.countUntil(min)); at < drops.length; at += 1) {
      const time = times[at] ?? 0;
      if (time > max) break;
      if ((values[at] ?? 0) <= (values[at - 1] ?? 0)) continue;
      const x = plot.valToPos(time + this.panel.origin_s, "x", true);
      if (x - lastX < size) continue;
      lastX = x;
      ctx.beginPath();
      ctx.moveTo(x - size, bbox.top);
      ctx.lineTo(x + size, bbox.top);
      ctx.lineTo(x, bbox.top + 1.6 * size);
      ctx.fill();
    }
    ctx.restore();
  }
}

const keys = new WeakMap<ChartView, string>();
let made = 0;

/** Links the cursors of two views, for charts that are made afterwards. */
export function joinCursors(views: readonly ChartView[]): void {
  const [first, ...others] = views;
  if (first !== undefined) for (const other of others) keys.set(other, syncKeyOf(first));
}

function syncKeyOf(view: ChartView): string {
  const known = keys.get(view);
  if (known !== undefined) return known;
  made += 1;
  const key = `charts-${made}`;
  keys.set(view, key);
  return key;
}
