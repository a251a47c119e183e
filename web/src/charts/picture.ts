/** The charts as one picture: each redrawn at print size, with its legend below. */

import type { SeriesStore } from "../live/seriesStore";
import { formatQuantity } from "../live/quantities";
import { LivePlot } from "./livePlot";
import { styleOf } from "./lineStyles";
import { FIGURE_WORDS, isQuiet, legendRows, type LegendRow } from "./lookups";
import type { PanelSpec } from "./panels";
import { resolveColour } from "./theme";
import { rangeOf, type ChartView } from "./view";

const WIDTH = 760;
const HEIGHT = 240;
const LINE = 16;
const GAP = 16;

interface Part {
  title: string;
  canvas: HTMLCanvasElement;
  rows: LegendRow[];
  panel: PanelSpec;
}

/**
 * Draw the panels as they are shown now, below each other.
 *
 * @returns a PNG; null where the browser cannot make one.
 */
export async function pictureOf(panels: readonly PanelSpec[], seriesStore: SeriesStore, view: ChartView): Promise<Blob | null> {
  const place = document.createElement("div");
  place.style.cssText = `position: fixed; left: -10000px; top: 0; width: ${WIDTH}px; height: ${HEIGHT}px`;
  document.body.append(place);
  const plots: LivePlot[] = [];
  try {
    const { hidden } = view.store.getState();
    const parts = panels.map((panel): Part => {
      let unit = "";
      const plot = new LivePlot(place, panel, seriesStore, view, (found) => {
        unit = found;
      });
      plots.push(plot);
      plot.draw();
      const rows = legendRows(panel, seriesStore, rangeOf(view.store.getState(), view.end_s), null).filter((row) => !isQuiet(row) && !hidden.has(row.line.of));
      return { title: unit === "" ? panel.title : `${panel.title} (${unit})`, canvas: plot.plot.ctx.canvas, rows, panel };
    });
    const picture = compose(parts);
    return await new Promise((done) => picture.toBlob(done, "image/png"));
  } finally {
    for (const plot of plots) plot.destroy();
    place.remove();
  }
}

function compose(parts: readonly Part[]): HTMLCanvasElement {
  const ratio = window.devicePixelRatio;
  const height = parts.reduce((sum, { rows }) => sum + HEIGHT + LINE * (rows.length + 2) + GAP, GAP);
  const picture = document.createElement("canvas");
  picture.width = (WIDTH + 2 * GAP) * ratio;
  picture.height = height * ratio;
  const ctx = picture.getContext("2d");
  if (ctx === null) return picture;
  ctx.scale(ratio, ratio);
  ctx.fillStyle = resolveColour(document.body, "var(--bg)");
  ctx.fillRect(0, 0, WIDTH + 2 * GAP, height);
  ctx.textBaseline = "top";
  let top = GAP;
  for (const { title, canvas, rows, panel } of parts) {
    ctx.fillStyle = resolveColour(document.body, "var(--fg)");
    ctx.font = "600 13px system-ui, sans-serif";
    ctx.fillText(title, GAP, top);
    ctx.drawImage(canvas, GAP, top + 1.3 * LINE, WIDTH, HEIGHT);
    top += 1.6 * LINE + HEIGHT;
    for (const row of rows) {
      drawRow(ctx, row, panel, top);
      top += LINE;
    }
    top += GAP + 0.4 * LINE;
  }
  return picture;
}

function drawRow(ctx: CanvasRenderingContext2D, row: LegendRow, panel: PanelSpec, top: number): void {
  const { line, value, figure } = row;
  const { colour, dash } = styleOf(line.style_index);
  ctx.save();
  ctx.strokeStyle = resolveColour(document.body, colour);
  ctx.globalAlpha = line.earlier ? 0.6 : 1;
  ctx.lineWidth = 2.5;
  ctx.setLineDash(line.earlier ? [4, 3] : dash);
  ctx.beginPath();
  ctx.moveTo(GAP + 46, top + 7);
  ctx.lineTo(GAP + 66, top + 7);
  ctx.stroke();
  ctx.restore();
  ctx.fillStyle = resolveColour(document.body, "var(--fg)");
  ctx.font = "12px system-ui, sans-serif";
  const figures = `last ${formatQuantity(value, panel.unit)}, ${FIGURE_WORDS[panel.figure]} ${formatQuantity(figure, panel.unit)}`;
  ctx.fillText(`${line.label}: ${figures}`, GAP + 74, top);
}
