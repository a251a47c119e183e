/**
 * Addresses and routes for what is being drawn.
 *
 * A link to a router, or into a part of the network that has one, gets them from the server at
 * once. What was given so before, here or as a new host's address, may become something else
 * with the next link; what a person has typed stays. It is known for as long as the page is open.
 */

import { postJson } from "../api/client";
import type { RepairEdit } from "../api/types";
import { change, documentOf } from "./change";
import { applyEdits, givenBy } from "./edits/repair";
import { drawingOf } from "./useDrawing";

const automatic = new Map<string, Set<string>>();

/** What was given by itself, to be known as such. */
export function noteAutomatic(id: string, given: Iterable<string>): void {
  const known = automatic.get(id) ?? new Set();
  for (const one of given) known.add(one);
  automatic.set(id, known);
}

/** A node that was just drawn: its address is nobody's wish. */
export function noteNewNode(id: string, name: string): void {
  const document = documentOf(id);
  const address = document === null ? null : drawingOf(document).nodes.find((node) => node.name === name)?.address;
  if (typeof address === "string") noteAutomatic(id, [`${name} ${address}`]);
}

/** Gives the part of the network that a new link is in addresses and routes, in the link's step of undo. */
export async function proposeAddresses(id: string, link: number): Promise<void> {
  const document = documentOf(id);
  // What a lab leaves to be done is no oversight.
  if (document === null || document.lab !== null) return;
  const drawing = drawingOf(document);
  if (drawing.networkPath.length !== 1 || !drawing.nodes.some((node) => node.kind === "router")) return;
  const { text, name, path, lab } = document;
  let edits: RepairEdit[];
  try {
    edits = await postJson<RepairEdit[]>("/api/addresses", { text, name, path, lab, link, automatic: [...(automatic.get(id) ?? [])] });
  } catch {
    return; // the check says that the server is away, and the link is drawn in any case
  }
  // Whoever has gone on drawing gets them with the next link, or by a click at the warning.
  if (edits.length === 0 || documentOf(id)?.text !== text) return;
  if (change(id, (now, { networkPath }) => applyEdits(now, networkPath, edits), { joins: "always" })) noteAutomatic(id, givenBy(edits));
}
