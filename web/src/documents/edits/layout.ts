/** Positions of nodes on the canvas: the study's `layout`. */

import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import { before } from "./common";

export type Places = Record<string, { x: number; y: number }>;

export function move(text: string, places: Places): string {
  return edited(text, (draft) => place(draft, places));
}

export function place(draft: Draft, places: Places): void {
  const entries = Object.fromEntries(
    Object.entries(places).map(([name, { x, y }]) => [name, [String(Math.round(x)), String(Math.round(y))]]),
  );
  if (draft.has(["layout"])) draft.setEntries(["layout"], entries);
  else if (Object.keys(entries).length > 0) draft.set(["layout"], entries, { levels: 1, after: before("layout") });
}
