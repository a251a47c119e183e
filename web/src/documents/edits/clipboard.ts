/** Copying nodes with the links and flows between them, and pasting them under new names. */

import type { Drawing, NodeKind } from "../drawing";
import { hostEntries } from "../entries";
import { edited } from "../yaml/edited";
import type { Value } from "../yaml/source";
import { readSource, toValue, valueAt } from "../yaml/source";
import { addressesOf, before, freeAddress, freeName, namesOf } from "./common";
import { writeNode } from "./entries";
import { renameInterfaces } from "./interfaces";
import type { Places } from "./layout";
import { place } from "./layout";
import { appendLine } from "./setup";

export interface Clip {
  nodes: { name: string; kind: NodeKind; value: Value; x: number; y: number }[];
  links: { ends: [string, string]; fields: Value | undefined }[];
  lines: { node: string; text: string }[];
}

export function copy(text: string, drawing: Drawing, names: ReadonlySet<string>, places: Places): Clip {
  const source = readSource(text);
  const nodes = drawing.nodes.filter((node) => names.has(node.name));
  const values = new Map(hostEntries(source, drawing.networkPath).map(({ name, value }) => [name, toValue(source, value)]));
  return {
    nodes: nodes.map(({ name, kind }) => ({
      name,
      kind,
      value: values.get(name) ?? null,
      x: places[name]?.x ?? 0,
      y: places[name]?.y ?? 0,
    })),
    links: drawing.links
      .filter((link) => link.ends.every((end) => names.has(end)))
      .map((link) => ({ ends: link.ends, fields: valueAt(source, [...drawing.networkPath, "links", link.index, 2]) })),
    lines: drawing.setup.flatMap((line) =>
      line.path[0] === "setup" ? line.nodes.filter((node) => names.has(node)).map((node) => ({ node, text: line.text })) : [],
    ),
  };
}

/** Adds the clip's nodes, shifted, with new names and addresses. Returns the names too. */
export function paste(text: string, drawing: Drawing, clip: Clip, shift: { x: number; y: number }): { text: string; names: string[] } {
  const taken = namesOf(drawing);
  const addresses = addressesOf(drawing);
  const renamed = new Map<string, string>();
  for (const node of clip.nodes) {
    const name = freeName(node.kind, taken);
    taken.add(name);
    renamed.set(node.name, name);
  }
  const next = edited(text, (draft) => {
    const places: Places = {};
    for (const node of clip.nodes) {
      const name = renamed.get(node.name) ?? node.name;
      places[name] = { x: node.x + shift.x, y: node.y + shift.y };
      writeNode(draft, drawing.networkPath, node.kind, name, withNewAddress(node.value, addresses));
    }
    for (const { ends, fields } of clip.links) {
      const [a, b] = ends.map((end) => renamed.get(end) ?? end);
      const link: Value[] = [a ?? "", b ?? ""];
      if (fields !== undefined && fields !== null) link.push(withNewEnds(fields, renamed, addresses));
      draft.append([...drawing.networkPath, "links"], link, { after: before("links") });
    }
    for (const line of clip.lines) appendLine(draft, ["setup"], renamed.get(line.node) ?? line.node, withNewInterfaces(line.text, renamed));
    place(draft, places);
  });
  return { text: next, names: [...renamed.values()] };
}

function withNewInterfaces(line: string, renamed: ReadonlyMap<string, string>): string {
  return renameInterfaces(line, renamed);
}

function withNewAddress(value: Value, taken: Set<string>): Value {
  if (typeof value === "string") return newAddress(value, taken);
  if (value === null || Array.isArray(value)) return value;
  const address = value["address"];
  return typeof address === "string" ? { ...value, address: newAddress(address, taken) } : value;
}

function newAddress(like: string, taken: Set<string>): string {
  const address = freeAddress(taken, like);
  taken.add(address.split("/")[0] ?? "");
  return address;
}

function withNewEnds(fields: Value, renamed: ReadonlyMap<string, string>, taken: Set<string>): Value {
  if (fields === null || typeof fields !== "object" || Array.isArray(fields)) return fields;
  const byEnd = (value: Value, change: (inner: Value) => Value): Value =>
    value === null || typeof value !== "object" || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).map(([end, inner]) => [renamed.get(end) ?? end, change(inner)]));
  const changed = { ...fields };
  if (changed["to"] !== undefined) changed["to"] = byEnd(changed["to"], (inner) => inner);
  if (changed["addresses"] !== undefined) {
    changed["addresses"] = byEnd(changed["addresses"], (inner) => (typeof inner === "string" ? newAddress(inner, taken) : inner));
  }
  return changed;
}
