/** Decorations: notes, groups and colours, in the study's `drawing`. */

import type { Drawing, DrawnGroup, DrawnNote } from "../drawing";
import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import type { Value } from "../yaml/source";
import { before, setOrRemove } from "./common";

interface Point {
  x: number;
  y: number;
}

const NOTES = ["drawing", "notes"];
const GROUPS = ["drawing", "groups"];

export function addNote(text: string, words: string, at: Point): string {
  return edited(text, (draft) => append(draft, NOTES, { text: words, at: pair(at) }));
}

export function setNoteText(text: string, note: DrawnNote, words: string): string {
  return edited(text, (draft) => draft.set([...NOTES, note.index, "text"], words));
}

export function moveNote(text: string, note: DrawnNote, at: Point): string {
  return edited(text, (draft) => draft.set([...NOTES, note.index, "at"], pair(at)));
}

export function removeNotes(draft: Draft, indexes: Iterable<number>): void {
  for (const index of descending(indexes)) draft.remove([...NOTES, index], { prune: true });
}

export function setNoteColour(text: string, note: DrawnNote, colour: string | null): string {
  return edited(text, (draft) => setOrRemove(draft, [...NOTES, note.index, "colour"], colour));
}

export function addGroup(text: string, name: string, nodes: readonly string[]): string {
  return edited(text, (draft) => append(draft, GROUPS, { name, nodes: [...nodes] }));
}

export function setGroupName(text: string, group: DrawnGroup, name: string): string {
  return edited(text, (draft) => setOrRemove(draft, [...GROUPS, group.index, "name"], name || null));
}

export function setGroupNodes(text: string, group: DrawnGroup, nodes: readonly string[]): string {
  return edited(text, (draft) => {
    if (nodes.length === 0) removeGroups(draft, [group.index]);
    else draft.set([...GROUPS, group.index, "nodes"], [...nodes]);
  });
}

export function setGroupColour(text: string, group: DrawnGroup, colour: string | null): string {
  return edited(text, (draft) => setOrRemove(draft, [...GROUPS, group.index, "colour"], colour));
}

export function removeGroups(draft: Draft, indexes: Iterable<number>): void {
  for (const index of descending(indexes)) draft.remove([...GROUPS, index], { prune: true });
}

/** The colour of nodes; null is the page's own. */
export function setColours(text: string, names: Iterable<string>, colour: string | null): string {
  return edited(text, (draft) => {
    for (const name of names) {
      const path = ["drawing", "colours", name];
      if (colour === null) draft.remove(path, { prune: true });
      else draft.set(path, colour, { after: before("drawing") });
    }
  });
}

/** Removes deleted nodes' colours, and the nodes from their groups. */
export function removeNodeDecor(draft: Draft, drawing: Drawing, names: ReadonlySet<string>): void {
  for (const name of names) draft.remove(["drawing", "colours", name], { prune: true });
  for (const group of [...drawing.groups].reverse()) {
    const left = group.nodes.filter((name) => !names.has(name));
    if (left.length === group.nodes.length) continue;
    if (left.length === 0) removeGroups(draft, [group.index]);
    else draft.set([...GROUPS, group.index, "nodes"], left);
  }
}

function append(draft: Draft, path: string[], value: Value): void {
  draft.append(path, value, { levels: 1, after: before("drawing") });
}

function pair({ x, y }: Point): string[] {
  return [String(Math.round(x)), String(Math.round(y))];
}

function descending(indexes: Iterable<number>): number[] {
  return [...indexes].sort((one, other) => other - one);
}
