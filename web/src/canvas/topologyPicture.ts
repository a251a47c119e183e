/** The drawing as a file: SVG in the page's current colours, and PNG made from it. */

import { download } from "../charts/export";
import { resolveColour } from "../charts/theme";
import { notify } from "../app/notices";
import type { Drawing } from "../documents/drawing";
import { COLOURS, frameOf, noteSize } from "./decor";
import type { CanvasEdge, CanvasNode } from "./elements";
import type { Point } from "./geometry";
import { bowOf, HALF, straight } from "./geometry";
import { extentOf, placeLabels, ROW } from "./placedLabels";
import { SHAPES } from "./shapes";

const MARGIN = 16;
const PNG_SCALE = 2;

/** The whole drawing, including parts outside of the window, as the text of an SVG file. */
export function topologyPicture(drawing: Drawing, nodes: readonly CanvasNode[], edges: readonly CanvasEdge[], showsAddresses: boolean): string {
  const placed = placeLabels(nodes, edges, showsAddresses);
  const places = new Map(nodes.map((node) => [node.id, node.position]));
  const extent = nodes.length === 0 ? { x: 0, y: 0, width: 100, height: 60 } : extentOf(drawing, nodes, edges, placed);
  const [x, y] = [extent.x - MARGIN, extent.y - MARGIN];
  const [width, height] = [extent.width + 2 * MARGIN, extent.height + 2 * MARGIN];
  const colour = (name: string) => resolveColour(document.body, `var(--${name})`);
  const mark = (name: string | null) => colour(COLOURS.some((one) => one === name) ? `mark-${name ?? ""}` : "border-strong");
  const parts: string[] = [];
  for (const group of drawing.groups) {
    const frame = frameOf(group.nodes.flatMap((name) => places.get(name) ?? []));
    if (frame === null) continue;
    const own = mark(group.colour);
    parts.push(tag("rect", { ...frame, rx: 10, fill: own, "fill-opacity": 0.08, stroke: own, "stroke-dasharray": "6 4" }));
    parts.push(words(group.name, { x: frame.x + 10, y: frame.y + 17 }, { fill: own, weight: 600 }));
  }
  for (const { edge, line } of placed.links) {
    parts.push(tag("path", { d: straight(line.from, line.to), stroke: colour("border-strong"), "stroke-width": 2, fill: "none", "data-link": edge.id }));
  }
  for (const edge of edges) {
    const [from, to] = [places.get(edge.source), places.get(edge.target)];
    if (edge.type !== "flow" || edge.data === undefined || from === undefined || to === undefined) continue;
    const { path } = bowOf(from, to, edge.data);
    parts.push(tag("path", { d: path, stroke: colour("flow"), "stroke-width": 1.8, "stroke-dasharray": "6 5", fill: "none", "marker-end": "url(#arrow)" }));
  }
  for (const { position, data } of nodes) {
    const { kind, name, address } = data.node;
    const stroke = mark(data.colour);
    const fill = kind === "host" ? colour("bg") : colour("bg-raised");
    const box = { x: position.x - HALF, y: position.y - HALF, width: 2 * HALF, height: 2 * HALF };
    parts.push(tag("rect", { ...box, rx: kind === "router" ? HALF : 9, fill, stroke, "stroke-width": data.colour === null ? 1.5 : 2.5 }));
    const ink = { host: colour("fg"), switch: colour("accent"), router: colour("good") }[kind];
    const shapes = SHAPES[kind].map((shape) => tag(shape.tag, Object.fromEntries(Object.entries(shape.attributes).map(([key, value]) => [key.replace("W", "-w"), value]))));
    parts.push(
      `<g transform="translate(${position.x - 15} ${position.y - 15}) scale(1.25)" fill="none" stroke="${ink}" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${shapes.join("")}</g>`,
    );
    const below = { x: position.x, y: position.y + HALF + 15 };
    parts.push(words(name, below, { fill: colour("fg"), weight: 600, middle: true }));
    if (showsAddresses && address !== null) parts.push(words(address, { x: below.x, y: below.y + 14 }, { fill: colour("fg-dim"), middle: true, size: 11 }));
  }
  for (const { kind, lines, box } of placed.labels) {
    const fill = kind === "flow" ? colour("flow") : kind === "end" ? colour("fg-dim") : colour("fg");
    const weight = kind === "flow" ? 600 : 400;
    lines.forEach((line, index) =>
      parts.push(words(line, { x: box.x + box.width / 2, y: box.y + 10.5 + index * ROW }, { fill, weight, middle: true, size: 11.5, halo: colour("canvas") })),
    );
  }
  for (const note of drawing.notes) {
    const size = noteSize(note.text);
    const own = mark(note.colour);
    parts.push(tag("rect", { x: note.x, y: note.y, ...size, rx: 4, fill: own, "fill-opacity": 0.14, stroke: own }));
    note.text.split("\n").forEach((line, index) => parts.push(words(line, { x: note.x + 9, y: note.y + 18 + index * 17 }, { fill: colour("fg") })));
  }
  const arrow = `<defs><marker id="arrow" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="8" markerHeight="8" orient="auto" markerUnits="userSpaceOnUse"><path d="M0 0 10 5 0 10Z" fill="${colour("flow")}"/></marker></defs>`;
  const ground = tag("rect", { x, y, width, height, fill: colour("canvas") });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${round(x)} ${round(y)} ${round(width)} ${round(height)}" width="${Math.round(width)}" height="${Math.round(height)}" font-family="system-ui, 'DejaVu Sans', sans-serif"><title>${escaped(drawing.title ?? "Network")}</title>${arrow}${ground}\n${parts.join("\n")}\n</svg>\n`;
}

export function saveSvg(name: string, svg: string): void {
  download(`${name}.svg`, new Blob([svg], { type: "image/svg+xml" }));
}

export async function savePng(name: string, svg: string): Promise<void> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  try {
    await image.decode();
    const picture = document.createElement("canvas");
    picture.width = image.width * PNG_SCALE;
    picture.height = image.height * PNG_SCALE;
    picture.getContext("2d")?.drawImage(image, 0, 0, picture.width, picture.height);
    const blob = await new Promise<Blob | null>((done) => picture.toBlob(done, "image/png"));
    if (blob === null) throw new Error("too large");
    download(`${name}.png`, blob);
  } catch {
    notify("error", "The browser could not make a PNG of this drawing; save it as SVG instead.");
  }
}

interface Look {
  fill: string;
  weight?: number;
  size?: number;
  middle?: boolean;
  /** The colour behind the letters, where lines may run. */
  halo?: string;
}

function words(text: string, { x, y }: Point, { fill, weight = 400, size = 12.5, middle = false, halo }: Look): string {
  const anchor = middle ? ' text-anchor="middle"' : "";
  const behind = halo === undefined ? "" : ` paint-order="stroke" stroke="${halo}" stroke-width="4" stroke-linejoin="round"`;
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}" font-size="${size}" font-weight="${weight}"${anchor}${behind}>${escaped(text)}</text>`;
}

function tag(name: string, attributes: object): string {
  const all = Object.entries(attributes).map(([key, value]) => `${key}="${typeof value === "number" ? round(value) : escaped(String(value))}"`);
  return `<${name} ${all.join(" ")}/>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
