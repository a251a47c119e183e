/** A chart over time: its legend, its buttons to zoom, and a panel for each quantity. */

import { figureStyle, referenceDash } from "../charts/lineStyles";
import { axisUnitOf, legendOf, referencesOf, type LegendName } from "../charts/panelData";
import type { PanelData } from "../api/types";
import { PanelPlot, type PanelPlotOptions } from "../charts/panelPlot";
import { swatch } from "../charts/swatchPicture";
import type { TimeAxis } from "../charts/timeAxis";
import { element, signButton } from "./dom";
import { Legend } from "./legend";
import type { Drawn } from "./lazy";
import { markSign } from "./marks";

const HEIGHT = 200;
const TITLE_HEIGHT = 20;

export class TimeChart {
  readonly drawn: Drawn[];

  constructor(place: HTMLElement, key: string, panels: readonly PanelData[], timeTitle: string, axis: TimeAxis, canDrag: boolean) {
    const plots = new Set<PanelPlot>();
    const entries = legendOf(panels).map((name) => ({ id: String(name.style_index), label: name.label, sign: signOf(name) }));
    const legend = new Legend(entries, () => plots.forEach((plot) => plot.redraw()));
    this.drawn = panels.map((panel, at) => {
      const isLast = at === panels.length - 1;
      const options: PanelPlotOptions = {
        axis,
        height: HEIGHT + (isLast ? TITLE_HEIGHT : 0),
        isHidden: (styleIndex) => legend.isHidden(String(styleIndex)),
        syncKey: key,
        timeTitle: isLast ? timeTitle : "",
        canDrag,
      };
      const box = element("div", { class: "plot", role: "img", "aria-label": panel.title });
      box.style.minHeight = `${options.height}px`;
      const root = element("div", { class: "panel" }, headingOf(panel), box);
      return { root, draw: () => plots.add(new PanelPlot(box, panel, options)) };
    });
    const controls = element("div", { class: "controls" }, legend.root, zoomButtons(axis));
    place.append(controls, ...this.drawn.map(({ root }) => root));
  }
}

function signOf({ style_index, isDots, isSolid }: LegendName): Element {
  const style = figureStyle(style_index);
  if (isDots) return markSign(style.mark, style.colour);
  return swatch(isSolid ? { ...style, dash: [] } : style);
}

function headingOf(panel: PanelData): HTMLElement {
  const heading = element("p", { class: "panel-title" }, element("b", {}, panel.title));
  const unit = axisUnitOf(panel);
  if (unit !== "") heading.append(`, ${unit}`);
  referencesOf(panel).forEach(({ text }, rank) => {
    const sign = swatch({ colour: "var(--chart-ink)", dash: referenceDash(rank) });
    heading.append(" ", element("span", { class: "reference" }, sign, ` ${text}`));
  });
  return heading;
}

function zoomButtons(axis: TimeAxis): HTMLElement {
  const whole = signButton("Show all of the time", "all", () => axis.reset());
  const show = () => (whole.disabled = axis.isWhole);
  show();
  axis.follow(show);
  return element(
    "div",
    { class: "zoom", role: "group", "aria-label": "Zoom in time" },
    signButton("Earlier", "◀", () => axis.change(-0.5, 1)),
    signButton("Later", "▶", () => axis.change(0.5, 1)),
    signButton("Zoom in", "+", () => axis.change(0, 0.5)),
    signButton("Zoom out", "−", () => axis.change(0, 2)),
    whole,
  );
}
