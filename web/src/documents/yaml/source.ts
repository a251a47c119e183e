/**
 * The text of a study with its YAML syntax tree.
 *
 * All scalars are strings as they were typed (`6.10` is not 6.1), and every node
 * has its position, so that an edit can replace a few characters and leave the
 * rest of the file, with its comments and layout, as it is.
 */

import { LineCounter, isAlias, isMap, isPair, isScalar, isSeq, parseDocument } from "yaml";
import type { CST, Document, Node, Pair, YAMLMap, YAMLSeq } from "yaml";

/** A string is a key; a number is an index in a list, or among the entries of a mapping. */
export type Path = readonly (string | number)[];

/** A value of a study: text, null, a list or a mapping. */
export type Value = string | null | Value[] | { [key: string]: Value };

export interface Source {
  text: string;
  tree: Document.Parsed;
  lines: LineCounter;
}

/** A node of the tree, with its parent. */
export interface Found {
  node: Node | null;
  /** Set if it is a mapping's entry. */
  pair: Pair<Node, Node | null> | null;
  parent: YAMLMap<Node, Node | null> | YAMLSeq<Node> | null;
  index: number;
}

export function readSource(text: string): Source {
  const lines = new LineCounter();
  const tree = parseDocument(text, {
    schema: "failsafe",
    uniqueKeys: true,
    keepSourceTokens: true,
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "silent",
  });
  return { text, tree, lines };
}

export function isMapping(node: unknown): node is YAMLMap<Node, Node | null> {
  return isMap(node);
}

export function isList(node: unknown): node is YAMLSeq<Node> {
  return isSeq(node);
}

/** The node that an alias `*name` refers to, else the node itself. */
export function resolved(source: Source, node: unknown): Node | null {
  if (isAlias(node)) return node.resolve(source.tree) ?? null;
  return isScalar(node) || isMap(node) || isSeq(node) ? node : null;
}

/** The text of a scalar; null for anything else, and for no value. */
export function scalarText(source: Source, node: unknown): string | null {
  const plain = resolved(source, node);
  if (!isScalar(plain)) return null;
  const value = plain.value;
  if (typeof value !== "string" || (value === "" && isEmpty(plain))) return null;
  return value;
}

export function keyText(pair: Pair<Node, Node | null>): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}

/** Follows the path, through aliases too; null if there is nothing. */
export function find(source: Source, path: Path): Found | null {
  let at: Found = { node: source.tree.contents, pair: null, parent: null, index: 0 };
  for (const step of path) {
    const inside = resolved(source, at.node);
    if (isMapping(inside)) {
      const index = typeof step === "number" ? step : inside.items.findIndex((pair) => keyText(pair) === step);
      const pair = inside.items[index];
      if (pair === undefined) return null;
      at = { node: pair.value, pair, parent: inside, index };
    } else if (isList(inside) && typeof step === "number") {
      const node = inside.items[step];
      if (node === undefined) return null;
      at = isPair(node) ? { ...at, node: null } : { node, pair: null, parent: inside, index: step };
    } else {
      return null;
    }
  }
  return at;
}

/** The part of the path up to its first alias; null if there is none. */
export function aliasOnTheWay(source: Source, path: Path): Path | null {
  for (let length = 1; length < path.length; length++) {
    const start = path.slice(0, length);
    if (isAlias(find(source, start)?.node)) return start;
  }
  return null;
}

export function toValue(source: Source, node: unknown): Value {
  const plain = resolved(source, node);
  if (isMapping(plain)) {
    return Object.fromEntries(plain.items.map((pair) => [keyText(pair), toValue(source, pair.value)]));
  }
  if (isList(plain)) return plain.items.map((item) => toValue(source, item));
  return scalarText(source, plain);
}

export function valueAt(source: Source, path: Path): Value | undefined {
  const found = find(source, path);
  return found === null ? undefined : toValue(source, found.node);
}

export function lineOf(source: Source, node: { range?: readonly [number, number, number] | null } | null): number {
  return node?.range ? source.lines.linePos(node.range[0]).line : 1;
}

/** Where an item begins: its anchor, its dash, its key, or its value. */
export function itemStart(found: Found): number {
  const item = itemToken(found);
  for (const token of item?.start ?? []) {
    if (!["space", "newline", "comment", "comma"].includes(token.type)) return token.offset;
  }
  const first = found.pair === null ? found.node : found.pair.key;
  return first?.range?.[0] ?? 0;
}

export function itemToken(found: Found): CST.CollectionItem | null {
  const items = (found.parent?.srcToken as { items?: CST.CollectionItem[] } | undefined)?.items;
  return found.pair?.srcToken ?? items?.[found.index] ?? null;
}

/** The offset after the last character of an item. */
export function itemEnd(source: Source, found: Found): number {
  const last = found.node ?? found.pair?.key ?? null;
  let end = last?.range?.[1] ?? 0;
  const item = itemToken(found);
  for (const token of item?.sep ?? []) {
    if (token.type === "map-value-ind") end = Math.max(end, token.offset + 1);
  }
  while (end > 0 && /\s/.test(source.text.charAt(end - 1))) end--;
  return end;
}

export function isEmpty(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.range?.[0] === node.range?.[1]);
}

export function entries(source: Source, path: Path): { key: string; node: Node | null; line: number }[] {
  const inside = resolved(source, find(source, path)?.node);
  if (!isMapping(inside)) return [];
  return inside.items.map((pair) => ({ key: keyText(pair), node: pair.value, line: lineOf(source, pair.key) }));
}

export function items(source: Source, path: Path): { node: Node; index: number }[] {
  const inside = resolved(source, find(source, path)?.node);
  return isList(inside) ? inside.items.map((node, index) => ({ node, index })) : [];
}

export function resolvedEntry(source: Source, node: Node | null, key: string): Node | null {
  const inside = resolved(source, node);
  if (!isMapping(inside)) return null;
  return resolved(source, inside.items.find((pair) => keyText(pair) === key)?.value);
}

export function textAt(source: Source, path: Path): string | null {
  return scalarText(source, find(source, path)?.node);
}

export function mapping(value: Value | undefined): Record<string, Value> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

export function inner(fields: Record<string, Value>, ...keys: string[]): Record<string, Value> {
  return keys.reduce((at, key) => mapping(at[key]), fields);
}

export function asText(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

export function listOf(value: Value): string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.filter((item) => typeof item === "string");
}
