/** A time-sequence plot as tcptrace draws it, on uPlot: sent data, acknowledgments, and the receive window. */

import uPlot from "uplot";

import type { TimeSequence } from "../api/types";
import { axesFor, axisUnit } from "../charts/options";
import { strokeRule } from "../charts/painter";
import { resolveColour } from "../charts/theme";
import { nearestIn } from "./capture";

export interface SequenceHandlers {
  /** The time nearest to a click, after the traffic's start, and its packet. */
  choose: (time_s: number, number: number | null) => void;
  hover: (time_s: number | null) => void;
  /** The unit of the numbers beside the axis. */
  unit: (unit: string) => void;
}

/** Maximum distance of a click, in pixels. */
const NEAR = 12;

export class SequencePlot {
  private readonly plot: uPlot;
  private at: number | null = null;
  private readonly resizes: ResizeObserver;
  private pressed: { x: number; y: number } | null = null;
  /** Marks the packet nearest to the time hovered in the charts. */
  private readonly ring = document.createElement("div");
  private charted_s: number | null = null;

  constructor(
    private readonly element: HTMLElement,
    private readonly data: TimeSequence,
    private readonly origin_s: number,
    private readonly handlers: SequenceHandlers,
  ) {
    this.plot = new uPlot(this.options(), [this.extent("x"), this.extent("y")], element);
    this.plot.over.addEventListener("pointerdown", (event) => (this.pressed = { x: event.clientX, y: event.clientY }));
    this.plot.over.addEventListener("click", (event) => {
      const start = this.pressed;
      // The end of a drag is not a click.
      if (start !== null && Math.hypot(event.clientX - start.x, event.clientY - start.y) < 4) this.clicked(event.offsetX, event.offsetY);
    });
    this.ring.className = "readout-ring";
    this.ring.hidden = true;
    this.plot.over.append(this.ring);
    this.resizes = new ResizeObserver(() => this.plot.setSize({ width: Math.max(60, element.clientWidth), height: Math.max(60, element.clientHeight) }));
    this.resizes.observe(element);
  }

  /** Shows a time, after the traffic's start. */
  setMoment(at_s: number | null): void {
    this.at = at_s;
    this.plot.redraw(false);
  }

  /** Shows the time hovered in the charts, and the nearest packet. */
  setHover(charted_s: number | null): void {
    if (charted_s === null && this.charted_s === null) return;
    this.charted_s = charted_s;
    this.placeRing();
  }

  private placeRing(): void {
    const { plot, origin_s, charted_s } = this;
    const left = charted_s === null ? -1 : plot.valToPos(charted_s + origin_s, "x");
    const isInside = left >= 0 && left <= plot.over.clientWidth;
    plot.setCursor({ left: isInside ? left : -10, top: -10 }, false);
    const packet = charted_s === null || !isInside ? null : this.nearest(charted_s);
    this.ring.hidden = packet === null;
    if (packet === null) return;
    this.ring.style.left = `${plot.valToPos(packet.time_s + origin_s, "x")}px`;
    this.ring.style.top = `${plot.valToPos(packet.value, "y")}px`;
  }

  /** The segment or acknowledgment nearest to a time. */
  private nearest(time_s: number): { time_s: number; value: number } | null {
    const { sent, acked } = this.data;
    const lists = [
      { times: sent.time_s, values: sent.end },
      { times: acked.time_s, values: acked.ack },
    ];
    const found = lists.flatMap(({ times, values }) => {
      const index = nearestIn(times, time_s);
      return index < 0 ? [] : [{ time_s: times[index] ?? 0, value: values[index] ?? 0 }];
    });
    found.sort((one, other) => Math.abs(one.time_s - time_s) - Math.abs(other.time_s - time_s));
    return found[0] ?? null;
  }

  /** Show all again. */
  reset(): void {
    const [x, y] = [this.extent("x"), this.extent("y")];
    this.plot.batch(() => {
      this.plot.setScale("x", { min: x[0] ?? 0, max: x[1] ?? 1 });
      this.plot.setScale("y", { min: y[0] ?? 0, max: y[1] ?? 1 });
    });
  }

  destroy(): void {
    this.resizes.disconnect();
    this.plot.destroy();
  }

  private extent(which: "x" | "y"): number[] {
    const { sent, acked } = this.data;
    const values = which === "x" ? [sent.time_s, acked.time_s] : [sent.seq, sent.end, acked.ack];
    let least = Infinity;
    let most = -Infinity;
    for (const list of values) {
      for (const value of list) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
    if (least > most) return [0, 1];
    const room = (most - least) * 0.03 || 1e-3;
    const shift = which === "x" ? this.origin_s : 0;
    return [least - room + shift, most + room + shift];
  }

  private options(): uPlot.Options {
    const { element } = this;
    return {
      width: Math.max(60, element.clientWidth),
      height: Math.max(60, element.clientHeight),
      padding: [8, 10, 0, 0],
      legend: { show: false },
      scales: { x: { time: false }, y: { auto: false } },
      axes: axesFor(element, "bytes"),
      series: [{}, { show: true, stroke: "transparent", points: { show: false } }],
      cursor: { drag: { x: true, y: true, uni: 24 }, points: { show: false }, bind: { dblclick: () => () => (this.reset(), null) } },
      hooks: {
        ready: [(plot) => plot.setScale("y", { min: this.extent("y")[0] ?? 0, max: this.extent("y")[1] ?? 1 })],
        draw: [
          (plot) => {
            this.paint(plot);
            // The scales may have changed, or come only now: the time can be hovered before the plot is there.
            if (this.charted_s !== null) this.placeRing();
          },
        ],
        setScale: [(plot, scale) => scale === "y" && this.handlers.unit(axisUnit(plot, "bytes"))],
        setCursor: [(plot) => {
          if (this.charted_s !== null) return;
          const left = plot.cursor.left ?? -1;
          this.handlers.hover(left < 0 ? null : plot.posToVal(left, "x") - this.origin_s);
        }],
      },
    };
  }

  private paint(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const colour = (name: string) => resolveColour(this.element, `var(--${name})`);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const { sent, acked, sack } = this.data;
    this.staircase(plot, acked.time_s, acked.window, colour("warn"));
    this.staircase(plot, acked.time_s, acked.ack, colour("good"));
    this.bars(plot, sack.map(([time, left, right]) => [time, left, right] as const), colour("flow"), 2);
    const all = sent.time_s.map((time, index) => [time, sent.seq[index] ?? 0, sent.end[index] ?? 0, index] as const);
    this.bars(plot, all.filter(([, , , index]) => sent.repeated[index] === 0 && sent.late[index] === 0), colour("accent"), 1.5);
    this.bars(plot, all.filter(([, , , index]) => sent.late[index] === 1), colour("lane-full"), 3);
    this.bars(plot, all.filter(([, , , index]) => sent.repeated[index] === 1), colour("bad"), 3);
    const congested = all.filter(([, , , index]) => sent.marked[index] === 1);
    ctx.fillStyle = colour("flow");
    for (const [time, , end] of congested) {
      const x = plot.valToPos(time + this.origin_s, "x", true);
      const y = plot.valToPos(end, "y", true);
      ctx.fillRect(x - 2 * devicePixelRatio, y - 2 * devicePixelRatio, 4 * devicePixelRatio, 4 * devicePixelRatio);
    }
    ctx.restore();
    if (this.at !== null) strokeRule(plot, "x", this.at + this.origin_s, { colour: colour("accent"), width: 2, dash: [] });
  }

  private staircase(plot: uPlot, times: readonly number[], values: readonly number[], colour: string): void {
    const { ctx } = plot;
    ctx.strokeStyle = colour;
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    let lastY = 0;
    times.forEach((time, index) => {
      const x = plot.valToPos(time + this.origin_s, "x", true);
      const y = plot.valToPos(values[index] ?? 0, "y", true);
      if (index === 0) ctx.moveTo(x, y);
      else {
        ctx.lineTo(x, lastY);
        ctx.lineTo(x, y);
      }
      lastY = y;
    });
    ctx.stroke();
  }

  /** Vertical bars of sequence ranges, with a visible minimum height. */
  private bars(plot: uPlot, list: readonly (readonly [number, number, number, ...number[]])[], colour: string, width: number): void {
    const { ctx } = plot;
    const { min = 0, max = 0 } = plot.scales["x"] ?? {};
    ctx.strokeStyle = colour;
    ctx.lineWidth = width * devicePixelRatio;
    ctx.beginPath();
    for (const [time, from, to] of list) {
      if (time + this.origin_s < min || time + this.origin_s > max) continue;
      const x = plot.valToPos(time + this.origin_s, "x", true);
      const bottom = plot.valToPos(from, "y", true);
      const top = Math.min(plot.valToPos(to, "y", true), bottom - 2 * devicePixelRatio);
      ctx.moveTo(x, bottom);
      ctx.lineTo(x, top);
    }
    ctx.stroke();
  }

  private clicked(left: number, top: number): void {
    const { plot, data } = this;
    let best = NEAR;
    let number: number | null = null;
    let time = plot.posToVal(left, "x") - this.origin_s;
    const look = (times: readonly number[], values: readonly number[], numbers: readonly number[]) => {
      times.forEach((one, index) => {
        const distance = Math.hypot(plot.valToPos(one + this.origin_s, "x") - left, plot.valToPos(values[index] ?? 0, "y") - top);
        if (distance >= best) return;
        best = distance;
        number = numbers[index] ?? null;
        time = one;
      });
    };
    look(data.sent.time_s, data.sent.end, data.sent.number);
    look(data.acked.time_s, data.acked.ack, data.acked.number);
    this.handlers.choose(time, number);
  }
}
