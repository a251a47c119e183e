/** The user's actions on the canvas, by mouse, key or menu: each is one undo step. */

import { notify } from "../app/notices";
import { NOTHING, useUi } from "../app/ui";
import { change, documentOf } from "../documents/change";
import type { Drawing, NodeKind } from "../documents/drawing";
import { readDrawing } from "../documents/drawing";
import type { Clip } from "../documents/edits/clipboard";
import { copy, paste } from "../documents/edits/clipboard";
import { addGroup, addNote, removeGroups, removeNotes, setColours } from "../documents/edits/decor";
import { addFlow, removeFlows } from "../documents/edits/flows";
import type { Places } from "../documents/edits/layout";
import { move } from "../documents/edits/layout";
import { addLink, moveLinkEnd, removeLinks, renumbered, splitLink } from "../documents/edits/links";
import { addNode, removeNodes } from "../documents/edits/nodes";
import { renameNode } from "../documents/edits/rename";
import { drawingOf } from "../documents/useDrawing";
import { edited } from "../documents/yaml/edited";
import type { Alignment, Axis } from "./arrange";
import { aligned, distributed } from "./arrange";
import { autoLayout } from "./autoLayout";
import type { Point } from "./geometry";
import { snap } from "./geometry";
import { freeSpot, placesOf } from "./places";

let clip: Clip | null = null;
let pastes = 0;

export function hasClip(): boolean {
  return clip !== null;
}

/** Returns the new node's name; null where it could not be made. */
export function placeNode(id: string, kind: NodeKind, wanted: Point): string | null {
  let made: string | null = null;
  change(id, (text, drawing) => {
    const added = addNode(withAllPlaces(id, text, drawing), drawing, kind, freeSpot(wanted, [...placesOf(id, drawing).values()]));
    made = added.name;
    return added.text;
  });
  if (made !== null) useUi.getState().select({ nodes: new Set([made]) });
  return made;
}

export function connect(id: string, a: string, b: string): boolean {
  let index = 0;
  const done = change(id, (text, drawing) => {
    const next = addLink(text, drawing.networkPath, a, b);
    index = readDrawing(next, documentOf(id)?.chosenCase ?? null).links.at(-1)?.index ?? 0;
    return next;
  });
  if (done) useUi.getState().select({ links: new Set([index]) });
  return done;
}

export function drawFlow(id: string, source: string, target: string): boolean {
  let name = "";
  const done = change(id, (text, drawing) => {
    const added = addFlow(text, drawing, source, target);
    name = added.name;
    return added.text;
  });
  if (done) {
    useUi.getState().select({ flows: new Set([name]) });
    useUi.getState().set({ rightTab: "properties" });
  }
  return done;
}

/** Moves one end of a link to another node. */
export function moveEnd(id: string, index: number, end: 0 | 1, to: string): boolean {
  const document = documentOf(id);
  if (document === null) return false;
  const before = drawingOf(document);
  const link = before.links.find((one) => one.index === index);
  if (link === undefined || link.ends[end] === to) return false;
  const done = change(id, (text) => moveLinkEnd(text, before.networkPath, link, end, to));
  if (done) warnOfNumbers(id, before, new Set([index]));
  return done;
}

export function arrange(id: string, how: Alignment | Axis): void {
  const { nodes } = useUi.getState().selection;
  const document = documentOf(id);
  if (document === null || nodes.size < 2) return;
  const places = new Map([...placesOf(id, drawingOf(document))].filter(([name]) => nodes.has(name)));
  moveNodes(id, Object.fromEntries(how === "x" || how === "y" ? distributed(places, how) : aligned(places, how)));
}

/** A new note, to be written at once: its number; null where it could not be made. */
export function placeNote(id: string, at: Point): number | null {
  if (!change(id, (text) => addNote(text, "Note", snap(at)))) return null;
  const document = documentOf(id);
  const index = document === null ? null : (drawingOf(document).notes.at(-1)?.index ?? null);
  if (index !== null) useUi.getState().select({ notes: new Set([index]) });
  return index;
}

/** A frame around the nodes that are selected. */
export function groupSelection(id: string): void {
  const { nodes } = useUi.getState().selection;
  const document = documentOf(id);
  if (document === null || nodes.size === 0) return;
  const drawing = drawingOf(document);
  const taken = new Set(drawing.groups.map(({ name }) => name));
  let number = 1;
  while (taken.has(`Group ${number}`)) number += 1;
  const names = drawing.nodes.map(({ name }) => name).filter((name) => nodes.has(name));
  if (!change(id, (text) => addGroup(text, `Group ${number}`, names))) return;
  useUi.getState().select({ groups: new Set([drawing.groups.length]) });
  useUi.getState().set({ rightTab: "properties" });
}

export function colourSelection(id: string, colour: string | null): void {
  const { nodes } = useUi.getState().selection;
  if (nodes.size > 0) change(id, (text) => setColours(text, nodes, colour));
}

export function deleteSelection(id: string): void {
  const { nodes, links, flows, notes, groups } = useUi.getState().selection;
  if (nodes.size + links.size + flows.size + notes.size + groups.size === 0) return;
  const document = documentOf(id);
  if (document === null) return;
  const drawing = drawingOf(document);
  const gone = new Set([
    ...links,
    ...drawing.links.filter((link) => link.ends.some((end) => nodes.has(end))).map((link) => link.index),
  ]);
  const done = change(id, (text) => {
    const less = edited(text, (draft) => {
      removeLinks(draft, drawing.networkPath, [...links]);
      removeFlows(draft, (flow) => flows.has(flow.name), drawing);
      removeNotes(draft, notes);
      removeGroups(draft, groups);
    });
    return nodes.size === 0 ? less : removeNodes(less, readDrawing(less, document.chosenCase), nodes);
  });
  if (!done) return;
  useUi.getState().set({ selection: NOTHING });
  warnOfNumbers(id, drawing, gone);
}

function warnOfNumbers(id: string, drawing: Drawing, gone: ReadonlySet<number>): void {
  const document = documentOf(id);
  if (document === null || gone.size === 0) return;
  const names = renumbered(drawing, drawingOf(document), gone);
  if (names.length === 0) return;
  notify(
    "warning",
    `Interfaces are numbered in the order of links, so ${names.join(", ")} ${names.length > 1 ? "were" : "was"} removed or renumbered. ` +
      "Check the set-up lines and probes that refer to them.",
  );
}

export function rename(id: string, from: string, to: string): boolean {
  const done = change(id, (text, drawing) => {
    const place = placesOf(id, drawing).get(from);
    const next = renameNode(text, drawing, from, to);
    return place !== undefined && !drawing.layout.has(from) && drawing.layout.size > 0 ? move(next, { [to]: place }) : next;
  });
  if (done && useUi.getState().selection.nodes.has(from)) useUi.getState().select({ nodes: new Set([to]) });
  return done;
}

/** Nodes were moved. */
export function moveNodes(id: string, moved: Places, options: { joins?: boolean } = {}): void {
  change(id, (text, drawing) => move(withAllPlaces(id, text, drawing), moved), options);
}

/**
 * Once one node's position is in the text, all are: else the others would be laid out anew
 * whenever the file is opened.
 */
function withAllPlaces(id: string, text: string, drawing: Drawing): string {
  const missing = [...placesOf(id, drawing)].filter(([name]) => !drawing.layout.has(name));
  return missing.length === 0 ? text : move(text, Object.fromEntries(missing));
}

export function layOut(id: string): void {
  change(id, (text, drawing) => move(text, Object.fromEntries(autoLayout(drawing))));
}

export function copySelection(id: string): void {
  const document = documentOf(id);
  const { nodes } = useUi.getState().selection;
  if (document === null || nodes.size === 0) return;
  const drawing = drawingOf(document);
  clip = copy(document.text, drawing, nodes, Object.fromEntries(placesOf(id, drawing)));
  pastes = 0;
  notify("info", nodes.size === 1 ? `Copied ${[...nodes][0] ?? ""}.` : `Copied ${nodes.size} nodes.`);
}

export function pasteClip(id: string): void {
  const copied = clip;
  if (copied === null) return;
  pastes += 1;
  pasteFrom(id, copied, pastes);
}

export function duplicate(id: string): void {
  const document = documentOf(id);
  const { nodes } = useUi.getState().selection;
  if (document === null || nodes.size === 0) return;
  const drawing = drawingOf(document);
  pasteFrom(id, copy(document.text, drawing, nodes, Object.fromEntries(placesOf(id, drawing))), 1);
}

function pasteFrom(id: string, copied: Clip, times: number): void {
  let names: string[] = [];
  change(id, (text, drawing) => {
    const pasted = paste(withAllPlaces(id, text, drawing), drawing, copied, { x: 40 * times, y: 90 * times });
    names = pasted.names;
    return pasted.text;
  });
  if (names.length > 0) useUi.getState().select({ nodes: new Set(names) });
}

export function selectAll(id: string): void {
  const document = documentOf(id);
  if (document === null) return;
  const drawing = drawingOf(document);
  useUi.getState().select({
    nodes: new Set(drawing.nodes.map((node) => node.name)),
    links: new Set(drawing.links.map((link) => link.index)),
    notes: new Set(drawing.notes.map((note) => note.index)),
  });
}

export function putInto(id: string, index: number, kind: NodeKind): void {
  let made: string | null = null;
  const before = documentOf(id);
  if (before === null) return;
  change(id, (text, drawing) => {
    const link = drawing.links.find((one) => one.index === index);
    if (link === undefined) return text;
    const places = placesOf(id, drawing);
    const [a, b] = link.ends.map((end) => places.get(end) ?? { x: 0, y: 0 });
    const split = splitLink(withAllPlaces(id, text, drawing), drawing, link, kind);
    made = split.name;
    const middle = { x: ((a?.x ?? 0) + (b?.x ?? 0)) / 2, y: ((a?.y ?? 0) + (b?.y ?? 0)) / 2 };
    return move(split.text, { [split.name]: freeSpot(middle, [...places.values()]) });
  });
  if (made !== null) useUi.getState().select({ nodes: new Set([made]) });
}
