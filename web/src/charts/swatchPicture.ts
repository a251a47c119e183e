/** A sample of a line in the style of the charts, without React. */

import type { LineStyle } from "./lineStyles";

const WIDTH = 26;

export function swatch({ colour, dash }: LineStyle): SVGSVGElement {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("width", String(WIDTH));
  picture.setAttribute("height", "10");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", `M0 5H${WIDTH}`);
  path.setAttribute("stroke-width", "2.4");
  path.style.stroke = colour;
  path.style.strokeDasharray = dash.length === 0 ? "none" : dash.join(" ");
  picture.append(path);
  return picture;
}
