/**
 * The script of a report's page: it draws the charts that can be zoomed, and builds long tables.
 *
 * The page embeds it and its data, and loads nothing. Without JavaScript, and in print, the
 * page shows static figures and the first rows of the table instead.
 */

import { TimeAxis } from "../charts/timeAxis";
import type { CaseData } from "./caseFilter";
import { CaseTable } from "./caseTable";
import { panelsOf, rangeOf, timesOf } from "./data";
import type { PackedCharts } from "./data";
import { element } from "./dom";
import { HeatMaps } from "./heat";
import { drawWhenNear } from "./lazy";
import type { Drawn } from "./lazy";
import { Multiples } from "./multiples";
import { PhasePlots } from "./phase";
import { TimeChart } from "./timeChart";
import "uplot/dist/uPlot.min.css";
import "../charts/series.css";
import "./report.css";

/** As `longfat.output.report.page` writes it. */
export interface FoldedTable {
  label: string;
  columns: string[];
  /** Rows in blocks, each with its cells. */
  blocks: string[][][];
}

export function makeWhenUnfolded(details: HTMLDetailsElement, table: FoldedTable): void {
  details.addEventListener("toggle", () => details.querySelector("summary")?.after(tableOf(table)), { once: true });
  for (const words of details.querySelectorAll("p")) words.remove();
}

function tableOf({ label, columns, blocks }: FoldedTable): HTMLElement {
  const row = (cells: readonly string[], tag: "th" | "td", scope: "col" | "row") =>
    element("tr", {}, ...cells.map((text, at) => (at === 0 ? element("th", { scope }, text) : element(tag, { class: "n", ...(tag === "th" && { scope }) }, text))));
  const bodies = blocks.map((rows) => element("tbody", { class: "totals" }, ...rows.map((cells) => row(cells, "td", "row"))));
  const head = element("thead", {}, row(columns, "th", "col"));
  return element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label }, element("table", {}, head, ...bodies));
}

export const canUnpack = "DecompressionStream" in window;

/** Returns the data of an element of the page; null if there is none. */
export async function unpack<Content>(id: string): Promise<Content | null> {
  const holder = document.getElementById(id);
  if (holder === null) return null;
  const packed = atob(holder.textContent ?? "");
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Content;
}

const root = document.documentElement;

async function showCases(): Promise<void> {
  const place = document.getElementById("case-table");
  const data = place === null ? null : await unpack<CaseData>("case-data");
  if (place === null || data === null) return;
  new CaseTable(place, data);
  root.classList.add("cases-built");
}

async function foldTables(): Promise<void> {
  const tables = await unpack<Record<string, FoldedTable>>("table-data");
  if (tables === null) return;
  for (const details of document.querySelectorAll<HTMLDetailsElement>("details[data-table]")) {
    const table = tables[details.dataset["table"] ?? ""];
    if (table !== undefined) makeWhenUnfolded(details, table);
  }
}

async function showCharts(): Promise<void> {
  const places = document.querySelectorAll<HTMLElement>("[data-chart]");
  const data = places.length === 0 ? null : await unpack<PackedCharts>("chart-data");
  if (data === null) return;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const canDrag = !matchMedia("(pointer: coarse)").matches;
  const axes = axesOf(data);
  const times = data.times.map(timesOf);
  // Before anything is measured: hidden elements have no width.
  root.classList.add("charts");
  const drawn: Drawn[] = [];
  for (const place of places) {
    const key = place.dataset["chart"] ?? "";
    const spec = data.charts[key];
    if (spec === undefined) continue;
    switch (spec.type) {
      case "time": {
        const axis = axes.get(spec.time) ?? new TimeAxis();
        drawn.push(...new TimeChart(place, key, panelsOf(spec, times), spec.time, axis, canDrag).drawn);
        break;
      }
      case "phase":
        drawn.push(...new PhasePlots(place, spec, () => data.timeColours[dark.matches ? 1 : 0], canDrag).drawn);
        break;
      case "heat":
        drawn.push(...new HeatMaps(place, spec).drawn);
        break;
      default:
        drawn.push(...new Multiples(place, spec, data.names, canDrag).drawn);
    }
  }
  drawWhenNear(drawn);
  zoomAsAddressed(axes.values());
}

/** Charts with the same time axis title are zoomed together. */
function axesOf({ charts }: PackedCharts): Map<string, TimeAxis> {
  const axes = new Map<string, TimeAxis>();
  for (const spec of Object.values(charts)) {
    if (spec.type !== "time") continue;
    const axis = axes.get(spec.time) ?? new TimeAxis();
    axis.include(rangeOf(spec.span));
    axes.set(spec.time, axis);
  }
  return axes;
}

/** A URL that ends with `#from=2&to=4` opens the page zoomed. */
function zoomAsAddressed(axes: Iterable<TimeAxis>): void {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const [from, to] = ["from", "to"].map((name) => Number.parseFloat(wanted.get(name) ?? ""));
  if (from === undefined || to === undefined) return;
  for (const axis of axes) {
    const range = { from: Math.max(from, axis.now.from), to: Math.min(to, axis.now.to) };
    if (range.from < range.to) axis.show(range);
  }
}

if (canUnpack) {
  void showCases();
  void foldTables();
  void showCharts();
}
