/**
 * Addresses and routes for the network being drawn.
 *
 * A link to a router, or into a part of the network that has one, gets them from the server at
 * once. Automatically assigned values may change again with the next link; typed ones stay. They
 * are tracked for as long as the page is open.
 */

import { postJson } from "../api/client";
import type { RepairEdit } from "../api/types";
import { change, documentOf } from "./change";
import { applyEdits, assignedBy } from "./edits/repair";
import { drawingOf } from "./useDrawing";

const automatic = new Map<string, Set<string>>();

/** Marks values as automatically assigned. */
export function noteAutomatic(id: string, given: Iterable<string>): void {
  const known = automatic.get(id) ?? new Set();
  for (const one of given) known.add(one);
  automatic.set(id, known);
}

/** Marks the address of a new node as automatically assigned. */
export function noteNewNode(id: string, name: string): void {
  const document = documentOf(id);
  const address = document === null ? null : drawingOf(document).nodes.find((node) => node.name === name)?.address;
  if (typeof address === "string") noteAutomatic(id, [`${name} ${address}`]);
}

/** Assigns addresses and routes to the connected part of a new link, in the same undo step. */
export async function proposeAddresses(id: string, link: number): Promise<void> {
  const document = documentOf(id);
  // A lab leaves parts undone on purpose.
  if (document === null || document.lab !== null) return;
  const drawing = drawingOf(document);
  if (drawing.networkPath.length !== 1 || !drawing.nodes.some((node) => node.kind === "router")) return;
  const { text, name, path, lab } = document;
  let edits: RepairEdit[];
  try {
    edits = await postJson<RepairEdit[]>("/api/addresses", { text, name, path, lab, link, automatic: [...(automatic.get(id) ?? [])] });
  } catch {
    return; // the check reports that the server is unreachable, and the link is drawn in any case
  }
  // If the text has changed meanwhile, they come with the next link, or by a click on the warning.
  if (edits.length === 0 || documentOf(id)?.text !== text) return;
  if (change(id, (now, { networkPath }) => applyEdits(now, networkPath, edits), { joins: "always" })) noteAutomatic(id, assignedBy(edits));
}
