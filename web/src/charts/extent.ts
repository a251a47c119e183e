/** The extent of values on an axis. */

import type { Values } from "./painter";

/** The minimum and maximum of the values that are not null; null if there are none. */
export function extentOf(...all: Values[]): [least: number, most: number] | null {
  let least = Infinity;
  let most = -Infinity;
  for (const values of all) {
    for (let at = 0; at < values.length; at += 1) {
      const value = values[at];
      if (value === null || value === undefined) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
  }
  return least <= most ? [least, most] : null;
}
