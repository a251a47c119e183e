/** What a chart reads at the cursor: a box beside it, and a ring around the point that is read. */

import { swatch } from "./swatchPicture";
import type { LineStyle } from "./lineStyles";

export interface ReadingRow {
  text: string;
  style?: LineStyle;
}

export interface Reading {
  heading: string;
  rows: ReadingRow[];
  /** The point that is read, in CSS pixels of the plotting area; null if the reading is of the cursor's time. */
  point: { left: number; top: number } | null;
}

const APART = 14;

export class Readout {
  private readonly box = document.createElement("div");
  private readonly ring = document.createElement("div");

  constructor(private readonly over: HTMLElement) {
    this.box.className = "readout";
    this.ring.className = "readout-ring";
    this.hide();
    over.append(this.box, this.ring);
  }

  hide(): void {
    this.box.hidden = true;
    this.ring.hidden = true;
  }

  /** Shows a reading beside a position of the plotting area. */
  show(reading: Reading, left: number): void {
    this.box.replaceChildren(
      line(reading.heading),
      ...reading.rows.map(({ text, style }) => (style === undefined ? line(text) : line(text, swatch(style)))),
    );
    this.box.hidden = false;
    const width = this.over.clientWidth;
    const isRight = left < width / 2;
    // Better over the cursor than outside of the window.
    const room = width - this.box.offsetWidth;
    const wanted = isRight ? left + APART : left - APART - this.box.offsetWidth;
    this.box.style.left = `${Math.max(Math.min(0, room), Math.min(wanted, room))}px`;
    this.ring.hidden = reading.point === null;
    if (reading.point === null) return;
    this.ring.style.left = `${reading.point.left}px`;
    this.ring.style.top = `${reading.point.top}px`;
  }
}

function line(text: string, sign?: Element): HTMLParagraphElement {
  const made = document.createElement("p");
  if (sign !== undefined) {
    const place = document.createElement("span");
    place.append(sign);
    made.append(place);
  }
  made.append(text);
  return made;
}
