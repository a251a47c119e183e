/** Where the hosts and routers of a network are in a text: in lists of names, or in mappings from names. */

import { entries, find, isList, isMapping, items, lineOf, resolved, scalarText } from "./yaml/source";
import type { Path, Source } from "./yaml/source";
import type { Node } from "yaml";

/** Hosts below `routers` forward. */
export const SECTIONS = ["hosts", "routers"] as const;
export type Section = (typeof SECTIONS)[number];

export interface HostEntry {
  name: string;
  section: Section;
  /** Of the item in a list, or of the entry in a mapping. */
  path: Path;
  /** What is written of it; null in a list. */
  value: Node | null;
  line: number;
}

export function hostEntries(source: Source, networkPath: Path): HostEntry[] {
  return SECTIONS.flatMap((section) => sectionEntries(source, [...networkPath, section], section));
}

function sectionEntries(source: Source, path: Path, section: Section): HostEntry[] {
  const node = resolved(source, find(source, path)?.node);
  if (isMapping(node)) {
    return entries(source, path).flatMap(({ key: name, node: value, line }) => (name === "" ? [] : [{ name, section, path: [...path, name], value, line }]));
  }
  if (!isList(node)) return [];
  return items(source, path).flatMap(({ node: item, index }) => {
    const name = scalarText(source, item);
    return name === null ? [] : [{ name, section, path: [...path, index], value: null, line: lineOf(source, item) }];
  });
}
