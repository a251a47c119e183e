/** Colour scales: of heat maps, and of time. */

import type { Stop } from "../api/types";
import { element } from "./dom";

type Rgb = [red: number, green: number, blue: number];

/** The colour at a position from 0 to 1 of a scale. */
export function colourAt(stops: readonly Stop[], share: number): Rgb {
  let before = stops[0];
  for (const stop of stops) {
    if (before !== undefined && stop[0] >= share) {
      const width = stop[0] - before[0];
      const way = width > 0 ? Math.min(1, Math.max(0, (share - before[0]) / width)) : 0;
      const [from, to] = [rgbOf(before[1]), rgbOf(stop[1])];
      return [0, 1, 2].map((at) => Math.round((from[at] ?? 0) * (1 - way) + (to[at] ?? 0) * way)) as Rgb;
    }
    before = stop;
  }
  return rgbOf(before?.[1] ?? "#000000");
}

export function cssOf([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever has more contrast on a colour (WCAG 2.1, relative luminance). */
export function inkOn(colour: Rgb): string {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0);
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

/** The legend of a scale: a bar with its ticks. */
export function scaleBar(title: string, stops: readonly Stop[], shares: readonly number[], texts: readonly string[]): HTMLElement {
  const bar = element("span", { class: "scale-bar" });
  bar.style.background = `linear-gradient(to right, ${stops.map(([, colour]) => colour).join(", ")})`;
  const ticks = element("span", { class: "scale-ticks" });
  shares.forEach((share, at) => {
    const tick = element("span", {}, texts[at] ?? "");
    tick.style.left = `${100 * share}%`;
    ticks.append(tick);
  });
  const whole = element("span", { class: "scale-whole" }, bar, ticks);
  return element("div", { class: "scale" }, element("span", { class: "by" }, title), whole);
}

function rgbOf(hex: string): Rgb {
  const number = Number.parseInt(hex.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}
