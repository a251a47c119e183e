/** The axes of small multiples: their ticks come with the data, or are computed for the zoomed range. */

import type uPlot from "uplot";

import { axisStyle } from "../charts/options";
import type { Range } from "../charts/timeAxis";
import type { AxisSpec } from "../api/types";

/** The approximate width of a letter of a tick. */
const LETTER = 6.3;
const ENOUGH_TICKS = 6;

/**
 * An axis of uPlot.
 *
 * @param isUpright whether it is the axis at the left.
 * @param zoom the zoomed range; null for all.
 */
export function axisOptions(element: HTMLElement, axis: AxisSpec, isUpright: boolean, zoom: () => Range | null): uPlot.Axis {
  const [places, texts] = axis.ticks;
  const isOwn = () => zoom() === null || axis.texts;
  const longest = Math.max(...texts.map(({ length }) => length), 1) * LETTER;
  const values: uPlot.Axis.DynamicValues = (_plot, splits) =>
    isOwn() ? splits.map((at) => texts[places.indexOf(at)] ?? "") : splits.map((at) => tickText(at, axis));
  const all: uPlot.Axis.Filter = (_plot, splits) => splits;
  const style = axisStyle(element);
  // Labels that would overlap are rotated.
  const isTurned = (plot: uPlot) => !isUpright && axis.texts && longest + 8 > plot.over.clientWidth / Math.max(1, places.length);
  return {
    ...style,
    label: axis.title,
    gap: 4,
    splits: (_plot, _at, low, high) => (isOwn() ? places : ticksBetween(low, high, axis.log)),
    values,
    filter: all,
    grid: { ...style.grid, filter: all },
    ticks: { ...style.ticks, filter: all },
    rotate: (plot) => (isTurned(plot) ? -40 : 0),
    size: (plot, shown) => {
      if (isUpright) return Math.max(...(shown ?? []).map(({ length }) => length), 2) * LETTER + 12;
      return isTurned(plot) ? longest * 0.65 + 20 : 24;
    },
  };
}

/** About six round values in a range. */
export function ticksBetween(low: number, high: number, isLog: boolean): number[] {
  if (isLog && high / low >= 10) {
    const found: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const digit of high / low >= 1000 ? [1] : [1, 2, 5]) found.push(digit * 10 ** power);
    }
    return found.filter((at) => at >= low && at <= high);
  }
  const rough = (high - low) / ENOUGH_TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((each) => each * power >= rough) ?? 10);
  const found: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** The label of a position: a text, a number with its unit, or the 0 beside a logarithmic scale. */
export function placeText(axis: AxisSpec, value: number): string {
  if (axis.texts) return axis.ticks[1][axis.ticks[0].indexOf(Math.round(value))] ?? "";
  const unit = axis.unit === "" ? "" : ` ${axis.unit}`;
  return `${numberText(axis.zero !== null && value === axis.zero ? 0 : value)}${unit}`;
}

/** The name of an axis, without its unit. */
export function nameOf({ title }: { title: string }): string {
  return title.replace(/ \([^()]*\)$/, "");
}

export function numberText(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-3
    ? value.toExponential(2)
    : Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 6 });
}

/** The unit is in the title or in each tick. */
function tickText(value: number, { unit, title }: AxisSpec): string {
  return unit === "" || title.endsWith(`(${unit})`) || title === unit ? numberText(value) : `${numberText(value)} ${unit}`;
}
