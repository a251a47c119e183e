/**
 * Tolerant access to a text by paths: anything missing or of an unexpected type reads as
 * empty. So half a text can be read while the rest is being typed.
 */

import type { Node } from "yaml";
import type { Path, Source, Value } from "./source";
import { find, isList, isMapping, keyText, lineOf, resolved, scalarText } from "./source";

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
