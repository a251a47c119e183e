/**
 * The table of all cases: sorted by a click on a header, filtered below it.
 *
 * Rows are created when they come near the viewport, so that thousands are cheap. Without
 * JavaScript, and in print, the page shows the first of them.
 */

import { download } from "../charts/export";
import { arranged, cellText, csvOf, headOf, testOf, type CaseData, type Column, type Sort } from "./caseFilter";
import { element } from "./dom";

/** Rows created per batch. */
const CHUNK = 80;

type Field = HTMLInputElement | HTMLSelectElement;

interface Head {
  column: Column;
  cell: HTMLElement;
  sign: HTMLElement;
}

export class CaseTable {
  private readonly status = element("p", { class: "muted small", role: "status" });
  private readonly heads = element("tr");
  private readonly filters = element("tr", { class: "filters" });
  private readonly body = element("tbody");
  private readonly fields = new Map<Column, Field>();
  private shown: Column[] = [];
  private sorters: Head[] = [];
  private sort: Sort | null = null;
  private order: number[] = [];
  private made = 0;

  constructor(
    place: HTMLElement,
    private readonly data: CaseData,
  ) {
    const table = element("table", {}, element("thead", {}, this.heads, this.filters), this.body);
    const end = element("div", { class: "more", "aria-hidden": "true" });
    const box = element("div", { class: "cases", tabindex: "0", role: "group", "aria-label": "All cases" }, table, end);
    place.append(this.controls(), this.picker(), box);
    this.choose();
    new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting === true && this.made < this.order.length) this.more();
      },
      { root: box, rootMargin: "600px 0px" },
    ).observe(end);
  }

  /** Shows the chosen columns. */
  private choose(): void {
    this.shown = this.data.columns.filter(({ shown }) => shown);
    this.sorters = this.shown.map((column) => this.headOf(column));
    this.heads.replaceChildren(...this.sorters.map(({ cell }) => cell));
    this.filters.replaceChildren(...this.shown.map((column) => element("td", alignment(column), this.fieldOf(column))));
    this.arrange();
  }

  private headOf(column: Column): Head {
    const sign = element("span", { "aria-hidden": "true" });
    const button = element("button", { type: "button" }, headOf(column), sign);
    button.addEventListener("click", () => {
      this.sort = { column, isDown: this.sort?.column === column && !this.sort.isDown };
      this.arrange();
    });
    return { column, sign, cell: element("th", { scope: "col", ...alignment(column) }, button) };
  }

  /** The filter field of a column; it keeps its input while the column is hidden. */
  private fieldOf(column: Column): Field {
    const known = this.fields.get(column);
    if (known !== undefined) return known;
    const label = `Filter by ${headOf(column)}`;
    let made: Field;
    if (column.choices !== undefined) {
      const options = column.choices.map((text, place) => element("option", { value: String(place) }, text));
      made = element("select", { "aria-label": label }, element("option", { value: "" }, "all"), ...options);
    } else {
      const isNumber = column.numbers !== undefined;
      made = element("input", { type: "text", "aria-label": label, placeholder: isNumber ? "> 0" : "part of it", size: "6" });
      if (isNumber) made.title = "such as > 10, <= 5, 3-8";
    }
    made.addEventListener("input", () => this.arrange());
    this.fields.set(column, made);
    return made;
  }

  private arrange(): void {
    const tests = [];
    for (const column of this.shown) {
      const field = this.fieldOf(column);
      const test = testOf(column, field.value);
      field.setAttribute("aria-invalid", String(test === null));
      if (test !== null) tests.push(test);
    }
    const count = this.data.rows;
    this.order = arranged(count, tests, this.sort);
    this.body.replaceChildren();
    this.made = 0;
    this.more();
    const all = count.toLocaleString("en");
    this.status.textContent = this.order.length === count ? `${all} cases` : `${this.order.length.toLocaleString("en")} of ${all} cases`;
    for (const { column, cell, sign } of this.sorters) {
      const sort = this.sort?.column === column ? this.sort : null;
      if (sort === null) cell.removeAttribute("aria-sort");
      else cell.setAttribute("aria-sort", sort.isDown ? "descending" : "ascending");
      sign.textContent = sort === null ? "" : sort.isDown ? " ▼" : " ▲";
    }
  }

  private more(): void {
    const rows = this.order.slice(this.made, this.made + CHUNK);
    this.made += rows.length;
    this.body.append(
      ...rows.map((row) =>
        element(
          "tr",
          {},
          ...this.shown.map((column, rank) => {
            const text = cellText(column, row);
            return rank === 0 ? element("th", { scope: "row" }, text) : element("td", alignment(column), text);
          }),
        ),
      ),
    );
  }

  private controls(): HTMLElement {
    const clear = element("button", { type: "button" }, "show all cases");
    clear.addEventListener("click", () => {
      for (const field of this.fields.values()) field.value = "";
      this.sort = null;
      this.arrange();
    });
    const save = element("button", { type: "button" }, "save as CSV");
    save.addEventListener("click", () => download("cases.csv", new Blob([csvOf(this.shown, this.order)], { type: "text/csv" })));
    return element("div", { class: "case-controls" }, this.status, clear, save);
  }

  private picker(): HTMLElement {
    const list = element("div", { class: "columns" });
    for (const column of this.data.columns.slice(1)) {
      const box = element("input", { type: "checkbox" });
      box.checked = column.shown;
      box.addEventListener("change", () => {
        column.shown = box.checked;
        this.choose();
      });
      list.append(element("label", {}, box, ` ${headOf(column)}`));
    }
    return element("details", { class: "pick" }, element("summary", {}, "columns"), list);
  }
}

function alignment({ numbers }: Column): Record<string, string> {
  return numbers === undefined ? {} : { class: "n" };
}
