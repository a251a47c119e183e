/** The charts of a page, as `longfat.output.report.charts` and `multiples` write them. */

import type { PanelData, PanelLine, PanelTrace } from "../charts/panelData";
import type { Range } from "../charts/timeAxis";

/** A position from 0 to 1 of a colour scale, and the colour there. */
export type Stop = [share: number, colour: string];

type Packed<Of extends PanelTrace> = Omit<Of, "times_s"> & { times_s: number };

interface PackedLine extends Omit<Packed<PanelLine>, "parts" | "missing_s"> {
  parts: Packed<PanelTrace>[];
  missing_s: number;
}

interface PackedPanel extends Omit<PanelData, "lines"> {
  lines: PackedLine[];
}

/** Quantities over time. */
export interface TimeSpec {
  type: "time";
  /** The title of the time axis; charts with the same title are zoomed together. */
  time: string;
  span: [from: number, to: number];
  panels: PackedPanel[];
}

/** One quantity against another, with time as colour. */
export interface PhaseSpec {
  type: "phase";
  across: [title: string, unit: string];
  up: [title: string, unit: string];
  traces: PhaseTrace[];
}

export interface PhaseTrace {
  label: string;
  t: number[];
  x: number[];
  y: number[];
  /** Reference values on the two axes: null for none. */
  marks: [number | null, number | null];
}

/** Metrics of many cases in small multiples with the same axes. */
export interface GridSpec {
  type: "lines" | "points" | "cdf";
  /** What distinguishes the series; empty if there is only one. */
  by: string;
  x: AxisSpec;
  y: AxisSpec;
  facets: FacetSpec[];
}

export interface AxisSpec {
  title: string;
  unit: string;
  log: boolean;
  /** Its ticks are texts and not a scale of numbers. */
  texts: boolean;
  /** On a logarithmic axis: the position of 0 beside the scale, and the separator. */
  zero: number | null;
  fence: number | null;
  range: [low: number, high: number];
  ticks: [places: number[], texts: string[]];
}

export interface FacetSpec {
  title: string;
  series: SeriesSpec[];
  marks: MarkSpec[];
}

export interface SeriesSpec {
  label: string;
  /** For theory, null means that it belongs to no series. */
  look: number | null;
  /** The index of the curve of theory; null for measurements. */
  rank: number | null;
  x: (number | null)[];
  y: (number | null)[];
  low?: (number | null)[];
  high?: (number | null)[];
  /** The cases, as indices into the page's list of names. */
  names?: number[];
}

export interface MarkSpec {
  label: string;
  rank: number;
  look: number | null;
  upright: boolean;
  at: number;
}

/** A metric over two parameters, as colours. */
export interface HeatSpec {
  type: "heat";
  x: { title: string; texts: string[] };
  y: { title: string; texts: string[] };
  colour: { title: string; unit: string; ticks: [shares: number[], texts: string[]]; stops: Stop[] };
  facets: HeatFacetSpec[];
}

export interface HeatFacetSpec {
  title: string;
  /** By row and column: the position on the colour scale, or null for no value. */
  z: (number | null)[][];
  text: string[][];
}

export type ChartSpec = TimeSpec | PhaseSpec | GridSpec | HeatSpec;

export interface ReportCharts {
  /** Times that lines share, as differences in units of 10 µs. */
  times: number[][];
  /** Names of cases. */
  names: string[];
  /** The colour scales of time for the light and the dark theme. */
  timeColours: [light: Stop[], dark: Stop[]];
  charts: Record<string, ChartSpec>;
}

/** Times in seconds from their differences. */
export function timesOf(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => (sum += step) / 1e5);
}

/** A chart's panels, with the times that they share, in seconds. */
export function panelsOf({ panels }: TimeSpec, times: readonly number[][]): PanelData[] {
  const at = (place: number) => times[place] ?? [];
  return panels.map((panel) => ({
    ...panel,
    lines: panel.lines.map((line) => ({
      ...line,
      times_s: at(line.times_s),
      missing_s: at(line.missing_s),
      parts: line.parts.map((part) => ({ ...part, times_s: at(part.times_s) })),
    })),
  }));
}

export function rangeOf([from, to]: readonly [number, number]): Range {
  return { from, to };
}
