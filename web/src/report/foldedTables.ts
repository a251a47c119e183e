/** Long collapsed tables: each is created when it is expanded. */

import { element } from "./dom";

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
