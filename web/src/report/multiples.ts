/** A chart of many cases in small multiples: with a common legend and zoom. */

import type { GridSpec } from "../api/types";
import { element } from "./dom";
import { Facet, type Zoom } from "./facet";
import { entriesOf } from "./gridLegend";
import type { Drawn } from "./lazy";
import { Legend } from "./legend";

const ALONE = 380;
const AMONG = 250;

export class Multiples {
  readonly drawn: Drawn[];
  private zoom: Zoom = { x: null, y: null };
  private readonly facets = new Set<Facet>();
  private readonly whole = element("button", { type: "button", "aria-label": "Show all", disabled: "" }, "all");

  constructor(place: HTMLElement, spec: GridSpec, names: readonly string[], canDrag: boolean) {
    const legend = new Legend(entriesOf(spec), () => this.redraw());
    const height = spec.facets.length > 1 ? AMONG : ALONE;
    this.whole.addEventListener("click", () => this.show({ x: null, y: null }));
    this.drawn = spec.facets.map((facet) => {
      const box = plotBox(facet.title, height);
      const draw = () => {
        const show = (zoom: Zoom) => this.show(zoom);
        const isHidden = (id: string) => legend.isHidden(id);
        this.facets.add(new Facet(box, facet, { spec, names, height, zoom: () => this.zoom, show, isHidden, canDrag }));
      };
      return { root: panelOf(facet.title, box), draw };
    });
    const controls = element("div", { class: "controls" });
    if (legend.length > 1) {
      if (spec.by !== "") controls.append(element("span", { class: "by" }, spec.by));
      controls.append(legend.root);
    }
    controls.append(element("div", { class: "zoom" }, this.whole));
    place.append(controls, gridOf(this.drawn));
  }

  private show(zoom: Zoom): void {
    this.zoom = zoom;
    this.whole.disabled = zoom.x === null && zoom.y === null;
    this.redraw();
  }

  private redraw(): void {
    for (const facet of this.facets) facet.redraw();
  }
}

/** The container of a small multiple, below its title. */
export function panelOf(title: string, box: HTMLElement): HTMLElement {
  const heading = title === "" ? [] : [element("p", { class: "panel-title" }, element("b", {}, title))];
  return element("div", { class: "panel" }, ...heading, box);
}

export function plotBox(title: string, height: number): HTMLElement {
  const box = element("div", { class: "plot", role: "img", "aria-label": title === "" ? "chart" : title });
  box.style.minHeight = `${height}px`;
  return box;
}

export function gridOf(drawn: readonly Drawn[]): HTMLElement {
  return element("div", { class: drawn.length > 1 ? "facets many" : "facets" }, ...drawn.map(({ root }) => root));
}
