// Builds the table of all cases: sorted by a click on a head, filtered below it, row by row.
//
// The data are those of `longfat.output.report.case_table`, column by column. Rows are made when they
// come near the window, so that thousands cost nothing. Without this script, and on paper, the
// page shows the first of them.

(async () => {
  const CHUNK = 80;
  const MISSING = "-";

  const place = document.getElementById("case-table");
  if (!place || !CAN_UNPACK) return;
  const { rows: count, columns } = JSON.parse(await unpack("case-data"));
  const collator = new Intl.Collator("en", { numeric: true });

  // ---- what a cell says, and what it is sorted by ----------------------------------------

  const formats = new Map();
  function numberText(value, digits) {
    if (!formats.has(digits)) {
      const both = { minimumFractionDigits: digits, maximumFractionDigits: digits };
      formats.set(digits, new Intl.NumberFormat("en", both));
    }
    const text = formats.get(digits).format(value);
    // A small number among large ones would be 0.
    return value !== 0 && !/[1-9]/.test(text) ? value.toExponential(1) : text;
  }
  function cellText(column, row) {
    if (column.choices) return column.choices[column.texts[row]];
    if (column.texts) return column.texts[row];
    const value = column.numbers[row];
    return value === null ? MISSING : numberText(value, column.digits);
  }
  const head = (column) => (column.unit ? `${column.title} (${column.unit})` : column.title);

  // ---- what is shown ---------------------------------------------------------------------

  const state = { sort: null, down: false, filters: new Map(), shown: columns.filter((c) => c.shown) };
  let order = [];
  let made = 0;

  // A filter of a column of numbers: `> 10`, `<= 5`, `3-8`, `5`; of texts: a part of the text.
  function numberTest(text) {
    const compact = text.replaceAll(",", "").trim();
    const range = /^(-?[\d.]+)\s*(?:-|\.\.|to)\s*(-?[\d.]+)$/.exec(compact);
    if (range) return (value) => value >= Number(range[1]) && value <= Number(range[2]);
    const found = /^(<=|>=|<|>|=)?\s*(-?[\d.]+(?:e-?\d+)?)$/.exec(compact);
    if (!found || Number.isNaN(Number(found[2]))) return null;
    const limit = Number(found[2]);
    return {
      "<": (value) => value < limit,
      "<=": (value) => value <= limit,
      ">": (value) => value > limit,
      ">=": (value) => value >= limit,
    }[found[1]] ?? ((value) => value === limit);
  }
  function testOf(column, text) {
    if (text === "") return () => true;
    if (column.choices) return (row) => column.texts[row] === Number(text);
    if (column.texts) {
      const part = text.toLowerCase();
      return (row) => column.texts[row].toLowerCase().includes(part);
    }
    const test = numberTest(text);
    return test && ((row) => column.numbers[row] !== null && test(column.numbers[row]));
  }
  function arrange() {
    const tests = [];
    for (const [column, field] of state.filters) {
      const test = testOf(column, field.value);
      field.setAttribute("aria-invalid", String(test === null));
      if (test) tests.push(test);
    }
    order = [];
    for (let row = 0; row < count; row += 1) {
      if (tests.every((test) => test(row))) order.push(row);
    }
    const { sort, down } = state;
    if (sort) {
      const sign = down ? -1 : 1;
      const values = sort.numbers ?? sort.texts;
      order.sort((a, b) => {
        const [one, other] = [values[a], values[b]];
        // What has no number stands last, whichever way.
        if (one === null || other === null) return (one === null) - (other === null) || a - b;
        const less = typeof one === "string" ? collator.compare(one, other) : one - other;
        return sign * less || a - b;
      });
    }
    show();
  }

  // ---- the table -------------------------------------------------------------------------

  const told = element("p", { class: "muted small", role: "status" });
  const heads = element("tr", {});
  const fields = element("tr", { class: "filters" });
  const body = element("tbody", {});
  const table = element("table", {}, element("thead", {}, heads, fields), body);
  const end = element("div", { class: "more", "aria-hidden": "true" });
  const box = element(
    "div", { class: "cases", tabindex: "0", role: "group", "aria-label": "All cases" }, table, end,
  );

  function more() {
    const rows = order.slice(made, made + CHUNK).map((row) =>
      element("tr", {}, ...state.shown.map((column, rank) => {
        const text = cellText(column, row);
        if (rank === 0) return element("th", { scope: "row" }, text);
        return element("td", column.numbers ? { class: "n" } : {}, text);
      })));
    made += rows.length;
    body.append(...rows);
  }
  function show() {
    body.replaceChildren();
    made = 0;
    more();
    const all = count.toLocaleString("en");
    told.textContent = order.length === count
      ? `${all} cases`
      : `${order.length.toLocaleString("en")} of ${all} cases`;
    for (const { column, cell, sign } of sorters) {
      const sorted = state.sort === column;
      if (sorted) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      sign.textContent = sorted ? (state.down ? " ▼" : " ▲") : "";
    }
  }

  let sorters = [];
  function makeHeads() {
    sorters = state.shown.map((column) => {
      const sign = element("span", { "aria-hidden": "true" });
      const button = element("button", { type: "button" }, head(column), sign);
      button.addEventListener("click", () => {
        state.down = state.sort === column ? !state.down : false;
        state.sort = column;
        arrange();
      });
      const cell = element("th", column.numbers ? { scope: "col", class: "n" } : { scope: "col" }, button);
      return { column, cell, sign };
    });
    heads.replaceChildren(...sorters.map((sorter) => sorter.cell));
    const kept = state.filters;
    state.filters = new Map(state.shown.map((column) => [column, kept.get(column) ?? field(column)]));
    fields.replaceChildren(
      ...state.shown.map((column) =>
        element("td", column.numbers ? { class: "n" } : {}, state.filters.get(column))));
  }
  function field(column) {
    const label = `Filter by ${head(column)}`;
    let made;
    if (column.choices) {
      made = element("select", { "aria-label": label }, element("option", { value: "" }, "all"));
      for (const [place, text] of column.choices.entries()) {
        made.append(element("option", { value: String(place) }, text));
      }
    } else {
      const hint = column.numbers ? "> 0" : "part of it";
      made = element("input", { type: "text", "aria-label": label, placeholder: hint, size: "6" });
      if (column.numbers) made.title = "such as > 10, <= 5, 3-8";
    }
    made.addEventListener("input", arrange);
    return made;
  }

  // ---- which columns, and a file ---------------------------------------------------------

  function picker() {
    const list = element("div", { class: "columns" });
    for (const column of columns.slice(1)) {
      const box = element("input", { type: "checkbox" });
      box.checked = column.shown;
      box.addEventListener("change", () => {
        column.shown = box.checked;
        state.shown = columns.filter((one) => one.shown);
        makeHeads();
        arrange();
      });
      list.append(element("label", {}, box, ` ${head(column)}`));
    }
    return element("details", { class: "pick" }, element("summary", {}, "columns"), list);
  }
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  function csv() {
    const cell = (column, row) =>
      column.numbers ? String(column.numbers[row] ?? "") : cellText(column, row);
    const lines = [state.shown.map(head), ...order.map((row) => state.shown.map((c) => cell(c, row)))];
    return lines.map((line) => line.map(quoted).join(",")).join("\n") + "\n";
  }
  const save = element("button", { type: "button" }, "save as CSV");
  save.addEventListener("click", () => {
    const url = URL.createObjectURL(new Blob([csv()], { type: "text/csv" }));
    element("a", { href: url, download: "cases.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  });
  const clear = element("button", { type: "button" }, "show all cases");
  clear.addEventListener("click", () => {
    for (const one of state.filters.values()) one.value = "";
    Object.assign(state, { sort: null, down: false });
    arrange();
  });

  place.append(
    element("div", { class: "case-controls" }, told, clear, save), picker(), box,
  );
  makeHeads();
  arrange();
  document.documentElement.classList.add("cases-built");
  new IntersectionObserver(
    ([entry]) => {
      if (entry.isIntersecting && made < order.length) more();
    },
    { root: box, rootMargin: "600px 0px" },
  ).observe(end);
})();
