// Draws the page's charts over time, and has `multiples.js` draw those of many cases: drag to zoom in time, double-click to see all again, hover to read.
//
// The data are those of `longfat.output.report.charts`. Each panel is a plot of its own below a legend
// of real buttons, so that both can be used with a keyboard. Panels are drawn when they come
// near the window. Charts that have the same time axis are zoomed together. Without this script,
// and on paper, the page shows static figures in their place.

(async () => {
  const PANEL_HEIGHT = 190, AXIS_TITLE_HEIGHT = 22, NARROW = 520;
  const REFERENCE_DASHES = ["dash", "dot", "dashdot", "longdash"];
  const REFERENCE_SIGNS = ["- - -", "· · ·", "- · -", "— —"];
  const LEAST_SPAN = 1e-4; // of a chart's time axis

  const places = [...document.querySelectorAll("[data-chart]")];
  if (!places.length || !CAN_UNPACK) return;

  const library = document.createElement("script");
  library.textContent = await unpack("chart-library");
  document.head.append(library);
  const { inks, looks, timeColours, times, names, charts } = JSON.parse(await unpack("chart-data"));
  const Plotly = window.Plotly;
  if (!Plotly) return;

  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const touched = matchMedia("(pointer: coarse)").matches; // dragging scrolls the page there
  const ink = (name) => inks[name][Number(darkScheme.matches)];
  const colourOf = (look) => looks[look].colours[Number(darkScheme.matches)];
  const ground = () => getComputedStyle(document.body).backgroundColor;
  const translucent = (colour) => `${colour}33`;

  function drawing(tag, attributes) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // ---- time axes that charts share -------------------------------------------------------

  class TimeAxis {
    constructor() {
      this.whole = [Infinity, -Infinity];
      this.followers = [];
    }
    include([start, end]) {
      this.whole = [Math.min(this.whole[0], start), Math.max(this.whole[1], end)];
      this.now = this.whole;
    }
    show(start, end) {
      const [first, last] = this.whole;
      const span = Math.min(last - first, Math.max(end - start, (last - first) * LEAST_SPAN));
      start = Math.min(Math.max(start, first), last - span);
      if (start === this.now[0] && start + span === this.now[1]) return;
      this.now = [start, start + span];
      for (const follower of this.followers) follower();
    }
    // Moves and widens in parts of what is seen.
    change(move, factor) {
      const [start, end] = this.now;
      const middle = (start + end) / 2 + move * (end - start);
      const half = ((end - start) * factor) / 2;
      this.show(middle - half, middle + half);
    }
    reset() {
      this.show(...this.whole);
    }
  }

  const axes = new Map();
  for (const { time, span } of Object.values(charts)) {
    if (time === undefined) continue;
    if (!axes.has(time)) axes.set(time, new TimeAxis());
    axes.get(time).include(span);
  }

  // ---- what plotly.js draws --------------------------------------------------------------

  const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false };

  function commonLayout(narrow) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: ground(),
      font: { color: ink("ink"), size: narrow ? 11 : 12, family: "inherit" },
      showlegend: false,
      dragmode: touched ? false : "zoom",
      hoverlabel: {
        bgcolor: ground(),
        bordercolor: ink("muted"),
        font: { color: ink("ink"), size: 12 },
        namelength: -1,
      },
    };
  }

  const axisLooks = () => ({
    gridcolor: ink("rule"), linecolor: ink("muted"), zeroline: false, automargin: false,
  });

  const reference = (axis, at, rank) => ({
    type: "line",
    layer: "below",
    xref: axis === "y" ? "paper" : "x",
    yref: axis === "y" ? "y" : "paper",
    x0: axis === "y" ? 0 : at, x1: axis === "y" ? 1 : at,
    y0: axis === "y" ? at : 0, y1: axis === "y" ? at : 1,
    line: { color: ink("muted"), width: 1.2, dash: REFERENCE_DASHES[rank % 4] },
  });

  function lineTraces(line, panel) {
    const colour = colourOf(line.look);
    const { dash, symbol } = looks[line.look];
    const shape = line.steps ? "hv" : "linear";
    const x = times[line.x];
    const number = panel.counts ? ",d" : ".4~r";
    const unit = panel.unit ? ` ${panel.unit}` : "";
    const quiet = { type: "scatter", hoverinfo: "skip" };
    const found = [];
    if (line.low) {
      const edge = { ...quiet, x, mode: "lines", line: { width: 0, shape } };
      found.push({ ...edge, y: line.low });
      found.push({ ...edge, y: line.high, fill: "tonexty", fillcolor: translucent(colour) });
    }
    for (const part of line.parts) {
      found.push({
        ...quiet, x: times[part.x], y: part.y, mode: "lines", opacity: 0.45,
        line: { color: colour, width: 0.8, shape },
      });
    }
    if (line.missing !== undefined) {
      found.push({
        type: "scatter", x: times[line.missing], y: times[line.missing].map(() => 0),
        mode: "markers", marker: { symbol: "x-thin", size: 8, line: { color: colour, width: 2 } },
        name: line.label, hovertemplate: "no reply", cliponaxis: false,
      });
    }
    const few = x.length <= 40;
    found.push({
      type: "scatter", x, y: line.y, name: line.label,
      mode: line.dots ? "markers" : few ? "lines+markers" : "lines",
      line: { color: colour, width: line.dense ? 1.3 : 2, dash: line.dense ? "solid" : dash, shape },
      marker: {
        color: colour, symbol: line.dots ? `${symbol}-open` : symbol,
        size: line.dots && !few ? 4 : 7, line: { width: 1.4, color: colour },
      },
      customdata: line.low && line.low.map((low, place) => [low, line.high[place]]),
      hovertemplate:
        `%{y:${number}}${unit}` +
        (line.low ? ` (5-95 %: %{customdata[0]:${number}} to %{customdata[1]:${number}})` : "") +
        (line.label ? "" : "<extra></extra>"),
      cliponaxis: !line.dots,
    });
    return found;
  }

  // ---- names of lines, as buttons that show and hide them -------------------------------

  class Legend {
    // Each entry has an id, a label, a colour, and the dash or the sign that it is told by.
    constructor(entries, changed) {
      this.hidden = new Set();
      this.changed = changed;
      this.root = element("div", { class: "legend", role: "group", "aria-label": "Lines shown" });
      this.keys = entries.map(({ id, label, colour, dash, sign }) => {
        const key = element("span", { class: "key", "aria-hidden": "true" }, sign ?? sample(dash));
        const button = element("button", { type: "button", "aria-pressed": "true" }, key, label);
        button.title = "Click to hide or show; double-click to see this one alone";
        button.addEventListener("click", () => this.toggle(id));
        button.addEventListener("dblclick", () => this.alone(id));
        this.root.append(button);
        return { id, colour, key, button };
      });
      this.colour();
    }
    colour() {
      for (const { key, colour } of this.keys) key.style.color = colour();
    }
    toggle(id) {
      if (!this.hidden.delete(id)) this.hidden.add(id);
      this.show();
    }
    alone(id) {
      const others = this.keys.map((key) => key.id).filter((other) => other !== id);
      const already = !this.hidden.has(id) && others.every((other) => this.hidden.has(other));
      this.hidden = new Set(already ? [] : others);
      this.show();
    }
    show() {
      for (const { id, button } of this.keys) {
        button.setAttribute("aria-pressed", String(!this.hidden.has(id)));
      }
      this.changed();
    }
  }

  function sample(dash) {
    const picture = drawing("svg", { width: 26, height: 10 });
    const path = drawing("path", {
      d: "M0 5H26", fill: "none", stroke: "currentColor", "stroke-width": 2.4,
    });
    if (dash !== "solid") path.style.strokeDasharray = dash;
    picture.append(path);
    return picture;
  }

  // ---- charts over time ------------------------------------------------------------------

  class Panel {
    constructor(chart, spec, last) {
      Object.assign(this, { chart, spec, last, plot: null, near: false });
      this.box = element("div", { class: "plot" });
      const heading = element("p", { class: "panel-title" }, element("b", {}, spec.title));
      if (spec.unit) heading.append(`, ${spec.unit}`);
      for (const [rank, { text }] of spec.references.entries()) {
        const sign = element("span", { "aria-hidden": "true" }, REFERENCE_SIGNS[rank % 4]);
        heading.append(" ", element("span", { class: "reference" }, sign, ` ${text}`));
      }
      this.root = element("div", { class: "panel" }, heading, this.box);
      this.box.style.minHeight = `${this.height}px`;
    }
    get height() {
      return PANEL_HEIGHT + (this.last ? AXIS_TITLE_HEIGHT : 0);
    }
    draw() {
      if (!this.near) return;
      const { spec, chart } = this;
      const narrow = this.box.clientWidth < NARROW;
      const shown = spec.lines.filter((line) => !chart.legend.hidden.has(line.look));
      const layout = {
        ...commonLayout(narrow),
        height: this.height,
        margin: { l: narrow ? 46 : 58, r: 12, t: 8, b: this.last ? 46 : 24 },
        hovermode: "x unified",
        shapes: spec.references.flatMap(({ at }, rank) =>
          at === null ? [] : [reference("y", at, rank)]),
        xaxis: {
          ...axisLooks(), range: [...chart.axis.now],
          title: this.last ? { text: chart.spec.time, standoff: 8, font: { size: 12 } } : undefined,
          showspikes: true, spikemode: "across", spikesnap: "data", spikethickness: 1,
          spikedash: "dot", spikecolor: ink("muted"), nticks: narrow ? 6 : 12,
          unifiedhovertitle: { text: "%{x:.4~r} s" },
        },
        yaxis: { ...axisLooks(), range: [0, spec.top], fixedrange: true, nticks: 5 },
      };
      const traces = shown.flatMap((line) => lineTraces(line, spec));
      const first = this.plot === null;
      this.plot = this.box;
      Plotly.react(this.box, traces, layout, CONFIG);
      if (first) this.listen();
    }
    listen() {
      const { axis } = this.chart;
      this.box.on("plotly_relayout", (change) => {
        const [start, end] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
        if (start !== undefined && end !== undefined) axis.show(start, end);
      });
      this.box.on("plotly_doubleclick", () => axis.reset());
      this.box.on("plotly_hover", ({ xvals }) => {
        if (xvals) this.chart.point(this, xvals[0]);
      });
      this.box.on("plotly_unhover", () => this.chart.point(this, null));
    }
    follow() {
      if (this.plot) Plotly.relayout(this.box, { "xaxis.range": [...this.chart.axis.now] });
    }
    point(x) {
      if (!this.plot) return;
      if (x === null) Plotly.Fx.unhover(this.box);
      else Plotly.Fx.hover(this.box, { xval: x }, "xy", true);
    }
  }

  class Chart {
    constructor(place, spec) {
      this.spec = spec;
      this.axis = axes.get(spec.time);
      this.legend = new Legend(this.lines(), () => this.draw());
      const last = spec.panels.length - 1;
      this.panels = spec.panels.map((panel, rank) => new Panel(this, panel, rank === last));
      place.append(this.controls(), ...this.panels.map((panel) => panel.root));
      this.axis.followers.push(() => {
        this.whole.disabled = this.axis.now === this.axis.whole;
        this.panels.forEach((panel) => panel.follow());
      });
    }
    controls() {
      const button = (words, sign, act) => {
        const made = element("button", { type: "button", "aria-label": words, title: words }, sign);
        made.addEventListener("click", act);
        return made;
      };
      this.whole = button("Show all of the time", "all", () => this.axis.reset());
      this.whole.disabled = true;
      const buttons = element(
        "div", { class: "zoom", role: "group", "aria-label": "Zoom in time" },
        button("Earlier", "◀", () => this.axis.change(-0.5, 1)),
        button("Later", "▶", () => this.axis.change(0.5, 1)),
        button("Zoom in", "+", () => this.axis.change(0, 0.5)),
        button("Zoom out", "−", () => this.axis.change(0, 2)),
        this.whole,
      );
      return element("div", { class: "controls" }, this.legend.root, buttons);
    }
    lines() {
      // What looks alike is one thing; of its names the shortest fits all panels.
      const lines = new Map();
      for (const line of this.spec.panels.flatMap((panel) => panel.lines)) {
        const known = lines.get(line.look);
        if (line.label && (!known || line.label.length < known.label.length)) {
          lines.set(line.look, line);
        }
      }
      return [...lines].map(([look, line]) => ({
        id: look, label: line.label, colour: () => colourOf(look),
        dash: line.dense || line.dots ? "solid" : looks[look].dash,
      }));
    }
    draw() {
      this.legend.colour();
      this.panels.forEach((panel) => panel.draw());
    }
    point(from, x) {
      this.panels.forEach((panel) => panel !== from && panel.point(x));
    }
  }

  // ---- one quantity against another ------------------------------------------------------

  class Orbit {
    constructor(place, chart, spec) {
      Object.assign(this, { chart, spec, near: false });
      this.box = element("div", { class: "plot" });
      this.box.style.minHeight = "300px";
      const heading = element("p", { class: "panel-title" }, element("b", {}, spec.label));
      this.root = element("div", { class: "panel" }, heading, this.box);
      place.append(this.root);
    }
    draw() {
      if (!this.near) return;
      const { spec, chart } = this;
      const [across, xUnit] = chart.across;
      const [up, yUnit] = chart.up;
      const last = spec.t.length - 1;
      const end = (place, symbol, words) => ({
        type: "scatter", mode: "markers", x: [spec.x[place]], y: [spec.y[place]],
        hovertemplate: `${words}<extra></extra>`, cliponaxis: false,
        marker: { symbol, size: 10, color: ink("ink"), line: { width: 2, color: ink("ink") } },
      });
      const traces = [
        {
          type: "scatter", mode: "lines+markers", x: spec.x, y: spec.y,
          line: { color: ink("rule"), width: 1 },
          marker: {
            size: 4, color: spec.t, colorscale: timeColours[Number(darkScheme.matches)],
            colorbar: {
              thickness: 8, outlinewidth: 0, len: 1, x: 1.02, xpad: 0, nticks: 6,
              title: { text: "s", side: "top" },
            },
          },
          hovertemplate:
            `%{x:.4~r} ${xUnit}, ${up} %{y:.4~r} ${yUnit}<br>at %{marker.color:.4~r} s` +
            "<extra></extra>",
        },
        end(0, "circle-open", "start"),
        end(last, "square", "end"),
      ];
      const [xMark, yMark] = spec.marks;
      const layout = {
        ...commonLayout(true),
        height: 300,
        margin: { l: 54, r: 50, t: 10, b: 46 },
        hovermode: "closest",
        shapes: [
          ...(xMark === null ? [] : [reference("x", xMark, 0)]),
          ...(yMark === null ? [] : [reference("y", yMark, 0)]),
        ],
        xaxis: {
          ...axisLooks(), rangemode: "tozero", title: { text: `${across}, ${xUnit}`, standoff: 6 },
        },
        yaxis: {
          ...axisLooks(), rangemode: "tozero", title: { text: `${up}, ${yUnit}`, standoff: 6 },
        },
      };
      const first = !this.drawn;
      this.drawn = true;
      Plotly.react(this.box, traces, layout, CONFIG);
      if (first) {
        this.box.on("plotly_doubleclick", () =>
          Plotly.relayout(this.box, { "xaxis.autorange": true, "yaxis.autorange": true }));
      }
    }
  }

  // ---- all of them -----------------------------------------------------------------------

  const drawn = new Map(); // what is drawn, by the element that must come near
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        const panel = drawn.get(target);
        panel.near = true;
        panel.draw();
      }
    },
    { rootMargin: "400px 0px" },
  );
  const Multiples = multiplesOf({
    Plotly, CONFIG, NARROW, REFERENCE_DASHES, Legend, looks, names, ink, colourOf, ground,
    commonLayout, axisLooks,
  });
  document.documentElement.classList.add("charts");
  const whole = [];
  for (const place of places) {
    const spec = charts[place.dataset.chart];
    if (spec.panels) {
      const chart = new Chart(place, spec);
      whole.push(chart);
      chart.panels.forEach((panel) => drawn.set(panel.root, panel));
    } else if (spec.kind) {
      const chart = new Multiples(place, spec);
      whole.push(chart);
      chart.facets.forEach((facet) => drawn.set(facet.root, facet));
    } else {
      for (const each of spec.orbits) {
        const orbit = new Orbit(place, spec, each);
        whole.push(orbit);
        drawn.set(orbit.root, orbit);
      }
    }
  }
  for (const root of drawn.keys()) watcher.observe(root);
  darkScheme.addEventListener("change", () => whole.forEach((each) => each.draw()));

  // A line of the address such as #from=2&to=4 opens the page zoomed.
  const wanted = new URLSearchParams(location.hash.slice(1));
  const [from, to] = ["from", "to"].map((name) => parseFloat(wanted.get(name)));
  for (const axis of axes.values()) {
    const [start, end] = [Math.max(from, axis.whole[0]), Math.min(to, axis.whole[1])];
    if (start < end) axis.show(start, end);
  }
})();
