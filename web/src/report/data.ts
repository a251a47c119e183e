/** The charts of a page, in which lines share their times. */

import type { GridSpec, HeatSpec, PanelData, PanelLine, PanelTrace, PhaseSpec, ReportCharts, TimeSpec } from "../api/types";
import type { Range } from "../charts/timeAxis";

type Packed<Of extends PanelTrace> = Omit<Of, "times_s"> & { times_s: number };

interface PackedLine extends Omit<Packed<PanelLine>, "parts" | "missing_s"> {
  parts: Packed<PanelTrace>[];
  missing_s: number;
}

interface PackedPanel extends Omit<PanelData, "lines"> {
  lines: PackedLine[];
}

/** Quantities over time, with indices in place of times. */
export interface PackedTimeSpec extends Omit<TimeSpec, "panels"> {
  panels: PackedPanel[];
}

export interface PackedCharts extends Omit<ReportCharts, "charts"> {
  charts: Record<string, PackedTimeSpec | PhaseSpec | GridSpec | HeatSpec>;
}

/** Times in seconds from their differences. */
export function timesOf(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => (sum += step) / 1e5);
}

/** A chart's panels, with the times that they share, in seconds. */
export function panelsOf({ panels }: PackedTimeSpec, times: readonly number[][]): PanelData[] {
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
