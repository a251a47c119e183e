/** Names of interfaces in lines and probes: `h1-eth0` as a whole word. */

import { deviceStem } from "../devices";
import type { Drawing } from "../drawing";

export function mentionsInterface(drawing: Drawing, name: string): boolean {
  const word = wordPattern(name);
  return drawing.references.some((text) => word.test(text));
}

/** A name that is not a part of a longer one. */
function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9_-])${escaped(name)}(?![A-Za-z0-9_-])`);
}

/** A node's interfaces in a text, such as `h1-eth0`, with the node's new name. */
export function renameInterfaces(text: string, from: string, to: string): string {
  return text.replace(new RegExp(`(?<![A-Za-z0-9_-])${escaped(deviceStem(from))}(?=-eth\\d+(?![A-Za-z0-9_-]))`, "g"), deviceStem(to));
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
