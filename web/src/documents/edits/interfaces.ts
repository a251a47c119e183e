/** Names of interfaces in lines and probes: `h1-eth0` as a whole word. */

import { deviceName } from "../devices";
import type { Drawing } from "../drawing";

export function mentionsInterface(drawing: Drawing, name: string): boolean {
  const word = wordPattern(name);
  return drawing.references.some((text) => word.test(text));
}

/** A name that is not a part of a longer one. */
function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9_-])${escaped(name)}(?![A-Za-z0-9_-])`);
}

/** A text with the new names of nodes in those of interfaces, such as `h1-eth0`; all are replaced at once. */
export function renameInterfaces(text: string, renamed: ReadonlyMap<string, string>): string {
  return text.replace(/(?<![A-Za-z0-9_-])[A-Za-z0-9][A-Za-z0-9_-]*-eth(\d+)(?![A-Za-z0-9_-])/g, (device, digits: string) => {
    const number = Number(digits);
    const from = [...renamed.keys()].find((name) => deviceName(name, number) === device);
    return from === undefined ? device : deviceName(renamed.get(from) ?? from, number);
  });
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
