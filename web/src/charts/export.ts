/** CSV export of the charts, and downloads. */

import type { SeriesStore } from "../live/seriesStore";
import type { PanelSpec } from "./panels";
import type { Range } from "./timeAxis";

interface CsvOptions {
  /** Flows and interfaces that are left out. */
  hidden: ReadonlySet<string>;
  /** The time range, in seconds since Run, its ends included. */
  range: Range;
}

/**
 * The lines of panels as CSV, in base units: a row for each time of each recording.
 *
 * `time_s` is the time of the charts' axis, `since_start_s` that since the recording's start. A
 * line without a sample at a time has an empty cell.
 */
export function csvOf(panels: readonly PanelSpec[], seriesStore: SeriesStore, { hidden, range }: CsvOptions): string {
  const origin_s = panels[0]?.origin_s ?? 0;
  const lines = panels.flatMap((panel) => panel.lines).filter((line) => !hidden.has(line.of));
  const keys = [...new Set(lines.map((line) => line.key))].sort();
  const recordings = [...new Set(lines.map((line) => line.recording))].sort((one, other) => one - other);
  const rows = [["run", "time_s", "since_start_s", ...keys].map(cell).join(",")];
  for (const recording of recordings) {
    const columns = keys.map((key) =>
      lines.some((line) => line.recording === recording && line.key === key) ? seriesStore.get(recording, key) : undefined,
    );
    const byTime = new Map<number, string[]>();
    columns.forEach((series, column) => {
      series?.times.forEach((time, index) => {
        if (time < range.from || time > range.to) return;
        const row = byTime.get(time) ?? new Array<string>(keys.length).fill("");
        const value = series.values[index] ?? Number.NaN;
        row[column] = Number.isNaN(value) ? "" : String(value);
        byTime.set(time, row);
      });
    });
    for (const [time, row] of [...byTime].sort(([one], [other]) => one - other)) {
      rows.push([String(recording), seconds(time + origin_s), seconds(time), ...row].join(","));
    }
  }
  return `${rows.join("\r\n")}\r\n`;
}

/** Downloads a blob. */
export function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replaceAll(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** In nanoseconds, as the clock of the network counts. */
function seconds(time: number): string {
  return String(Number(time.toFixed(9)));
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
