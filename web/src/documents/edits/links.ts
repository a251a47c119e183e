/** Adding, changing and removing links. */

import type { DrawnLink, Drawing, NodeKind } from "../drawing";
import type { Draft } from "../yaml/draft";
import { EditError } from "../yaml/draft";
import { edited } from "../yaml/edited";
import type { Path, Value } from "../yaml/source";
import { before, freeName, namesOf } from "./common";
import { writeNode } from "./entries";
import { mentionsInterface } from "./interfaces";

/** Both directions, the one away from the first end (0), or the one back (1). */
export type Side = "both" | 0 | 1;

export function addLink(text: string, networkPath: Path, a: string, b: string): string {
  if (a === b) throw new EditError(`A link joins two nodes: ${a} cannot be linked to itself.`);
  return edited(text, (draft) => draft.append([...networkPath, "links"], [a, b], { after: before("links") }));
}

export function removeLinksOf(draft: Draft, drawing: Drawing, names: ReadonlySet<string>): void {
  const gone = drawing.links.filter((link) => link.ends.some((end) => names.has(end))).map((link) => link.index);
  removeLinks(draft, drawing.networkPath, gone);
}

export function removeLinks(draft: Draft, networkPath: Path, indexes: readonly number[]): void {
  for (const index of [...indexes].sort((one, other) => other - one)) draft.remove([...networkPath, "links", index]);
}

/**
 * Sets a property as it was typed.
 *
 * Parameters: `side`; if one direction had its own value and both are set, the own value
 * is removed. Null removes the value: if only one direction is to have none, it overrides
 * the common value with an entry without a value.
 */
export function setProperty(
  text: string,
  networkPath: Path,
  link: DrawnLink,
  property: string,
  side: Side,
  value: string | null,
): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "links", link.index];
    if (side === "both") {
      for (const end of link.ends) dropTowards(draft, path, end, property);
      setField(draft, path, [property], value);
      return;
    }
    const end = link.ends[1 - side] ?? "";
    const common = link.common[property] ?? null;
    if (value === common) dropTowards(draft, path, end, property);
    else if (value === null) setTowards(draft, path, end, property, null);
    else setTowards(draft, path, end, property, value);
  });
}

/** Copies the properties of the direction away from the first end to both. */
export function makeSame(text: string, networkPath: Path, link: DrawnLink, properties: Record<string, string | null>): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "links", link.index];
    draft.remove([...path, 2, "to"]);
    for (const [property, value] of Object.entries(properties)) setField(draft, path, [property], value);
    tidy(draft, path);
  });
}

/** A field of the link as a whole, such as `mtu`; null removes it. */
export function setLinkField(text: string, networkPath: Path, link: DrawnLink, key: string, value: string | null): string {
  return edited(text, (draft) => setField(draft, [...networkPath, "links", link.index], [key], value));
}

export function setLinkAddress(text: string, networkPath: Path, link: DrawnLink, end: 0 | 1, address: string | null): string {
  return edited(text, (draft) => setField(draft, [...networkPath, "links", link.index], ["addresses", link.ends[end]], address));
}

/**
 * Moves one end of a link to another node; the link's properties stay.
 *
 * The end's address belonged to the old node, so it is removed.
 */
export function moveLinkEnd(text: string, networkPath: Path, link: DrawnLink, end: 0 | 1, to: string): string {
  if (to === link.ends[1 - end]) throw new EditError(`A link joins two nodes: ${to} cannot be linked to itself.`);
  return edited(text, (draft) => {
    const path = [...networkPath, "links", link.index];
    renameIn(draft, [...path, 2, "to"], link.ends[end], to);
    draft.remove([...path, 2, "addresses", link.ends[end]], { prune: true });
    draft.set([...path, end], to);
    tidy(draft, path);
  });
}

/** Inserts a node into a link: the link's properties stay with the part at its first end. */
export function splitLink(text: string, drawing: Drawing, link: DrawnLink, kind: NodeKind): { text: string; name: string } {
  const name = freeName(kind, namesOf(drawing));
  const next = edited(text, (draft) => {
    const path = [...drawing.networkPath, "links"];
    writeNode(draft, drawing.networkPath, kind, name);
    if (draft.has([...path, link.index, 2])) {
      renameIn(draft, [...path, link.index, 2, "to"], link.ends[1], name);
      draft.remove([...path, link.index, 2, "addresses", link.ends[1]], { prune: true });
    }
    draft.set([...path, link.index, 1], name);
    draft.append(path, [name, link.ends[1]]);
  });
  return { text: next, name };
}

/** Interfaces that are renumbered when links are removed, among those that lines or probes refer to. */
export function renumbered(drawing: Drawing, after: Drawing, gone: ReadonlySet<number>): string[] {
  const kept = drawing.links.filter((link) => !gone.has(link.index));
  const changed = kept.flatMap((link, place) =>
    ([0, 1] as const).flatMap((end) => (after.links[place]?.interfaces[end] === link.interfaces[end] ? [] : [link.interfaces[end]])),
  );
  const lost = drawing.links.filter((link) => gone.has(link.index)).flatMap((link) => link.interfaces);
  return [...new Set([...lost, ...changed])].filter((name) => mentionsInterface(drawing, name));
}

function renameIn(draft: Draft, path: Path, from: string, to: string): void {
  if (draft.has([...path, from])) draft.renameKey([...path, from], to);
}

function setTowards(draft: Draft, path: Path, end: string, property: string, value: Value): void {
  setField(draft, path, ["to", end, property], value, true);
}

function dropTowards(draft: Draft, path: Path, end: string, property: string): void {
  draft.remove([...path, 2, "to", end, property], { prune: true });
  tidy(draft, path);
}

/** Sets a field in the link's third item, which is created if needed and removed when it is empty. */
function setField(draft: Draft, path: Path, field: readonly string[], value: Value, keepsEmpty = false): void {
  const whole = [...path, 2, ...field];
  if (value === null && !keepsEmpty) {
    draft.remove(whole, { prune: true });
  } else if (draft.has([...path, 2])) {
    draft.set(whole, value);
  } else {
    draft.append(path, field.reduceRight<Value>((inside, key) => ({ [key]: inside }), value));
  }
  tidy(draft, path);
}

function tidy(draft: Draft, path: Path): void {
  const rest = draft.value([...path, 2]);
  if (rest !== undefined && (rest === null || (typeof rest === "object" && Object.keys(rest).length === 0))) {
    draft.remove([...path, 2]);
  }
}
