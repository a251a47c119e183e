/** The ends of what stands on an axis. */

import type { Values } from "./painter";

/** The least and the greatest of known values; null where there is none. */
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
