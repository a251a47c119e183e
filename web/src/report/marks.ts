/** The marks of points, as characters for a legend. */

import type { Mark } from "../charts/lineStyles";
import { element } from "./dom";

const SIGNS: Record<Mark, string> = {
  circle: "●",
  square: "■",
  up: "▲",
  diamond: "◆",
  down: "▼",
  plus: "✚",
  cross: "✖",
  left: "◀",
  right: "▶",
};

export function markSign(mark: Mark, colour: string): HTMLElement {
  const sign = element("span", {}, SIGNS[mark]);
  sign.style.color = colour;
  return sign;
}
