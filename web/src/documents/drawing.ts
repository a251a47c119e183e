/**
 * The content of a text that the canvas shows: nodes, links, flows and places.
 *
 * Tolerant: whatever cannot be parsed is left out, so that half a text is drawn
 * while the rest is being typed. The server's check decides whether a text is valid.
 */

import type { Problem } from "../api/types";
import { isEmpty, isList, isMapping, keyText, lineOf, readSource, resolved, scalarText, toValue, find, asText, entries, inner, items, listOf, mapping, resolvedEntry, textAt } from "./yaml/source";
import type { Path, Source, Value } from "./yaml/source";
import { deviceName } from "./devices";
import { hostEntries } from "./entries";

export type NodeKind = "host" | "router" | "switch";

export interface DrawnNode {
  name: string;
  kind: NodeKind;
  address: string | null;
  routes: { to: string; via: string }[];
  /** A host's other fields, as typed, by key: `timer_latency`. */
  fields: Record<string, string>;
  interfaces: string[];
  /** Of its entry in the network. */
  path: Path;
  line: number;
}

/** As typed; null unsets a common value, which is possible for a direction only. */
export type Properties = Record<string, string | null>;

export interface DrawnLink {
  index: number;
  ends: [string, string];
  interfaces: [string, string];
  /** Of both directions. */
  common: Properties;
  /** Of the direction from the first end to the second, and back. */
  towards: [Properties, Properties];
  addresses: [string | null, string | null];
  line: number;
}

export interface DrawnFlow {
  name: string;
  path: Path;
  tool: string;
  source: string;
  target: string;
  fields: Record<string, Value>;
  line: number;
}

export interface DrawnSetupLine {
  /** Of the entry in its list, and of the line in the entry, if that is a list. */
  path: Path;
  nodes: string[];
  text: string;
  line: number;
}

/** A frame around nodes. */
export interface DrawnGroup {
  index: number;
  name: string;
  nodes: string[];
  colour: string | null;
  line: number;
}

/** A text beside the network; `x` and `y` are its upper left corner. */
export interface DrawnNote {
  index: number;
  text: string;
  x: number;
  y: number;
  colour: string | null;
  line: number;
}

export interface Drawing {
  /** The path of the network: common to all cases, or the chosen case's own. */
  networkPath: Path;
  /** The network's own fields, as typed, by key: `frames`. */
  networkFields: Record<string, string>;
  title: string | null;
  kernel: string | null;
  seed: string | null;
  nodes: DrawnNode[];
  links: DrawnLink[];
  flows: DrawnFlow[];
  setup: DrawnSetupLine[];
  /** The set-up lines and the probes' targets, in all cases. */
  references: string[];
  cases: { name: string; title: string | null; line: number }[];
  layout: Map<string, { x: number; y: number }>;
  /** Of nodes, by name. */
  colours: Map<string, string>;
  groups: DrawnGroup[];
  notes: DrawnNote[];
  /** YAML syntax errors. */
  problems: Problem[];
}

export function readDrawing(text: string, chosenCase: string | null = null): Drawing {
  const source = readSource(text);
  const networkPath = networkPathOf(source, chosenCase);
  const nodes = readNodes(source, networkPath);
  return {
    networkPath,
    networkFields: Object.fromEntries(
      entries(source, networkPath).flatMap(({ key, node }) => {
        const typed = scalarText(source, node);
        return typed === null ? [] : [[key, typed]];
      }),
    ),
    title: textAt(source, ["title"]),
    kernel: textAt(source, ["kernel"]),
    seed: textAt(source, ["seed"]),
    nodes,
    links: readLinks(source, networkPath, nodes),
    flows: readAllFlows(source, chosenCase),
    setup: [...readSetup(source, ["setup"]), ...(chosenCase === null ? [] : readSetup(source, ["cases", chosenCase, "setup"]))],
    references: readReferences(source),
    cases: entries(source, ["cases"]).map(({ key, node, line }) => ({
      name: key,
      title: scalarText(source, resolvedEntry(source, node, "title")),
      line,
    })),
    layout: readLayout(source),
    ...readDecor(source),
    problems: source.tree.errors.map((error) => {
      const { line, col } = source.lines.linePos(error.pos[0]);
      return { message: error.message, line, column: col, field: "" };
    }),
  };
}

/** Whether a typed value is true in YAML. */
export function isOn(value: Value | null | undefined): boolean {
  return typeof value === "string" && /^(true|yes|on)$/i.test(value);
}

/** The properties of one direction: the common ones, overridden by its own. */
export function effective(link: DrawnLink, direction: 0 | 1): Properties {
  return { ...link.common, ...link.towards[direction] };
}

function networkPathOf(source: Source, chosenCase: string | null): Path {
  if (find(source, ["network"]) !== null || chosenCase === null) return ["network"];
  const own = ["cases", chosenCase, "network"];
  return find(source, own) === null ? ["network"] : own;
}

function readNodes(source: Source, networkPath: Path): DrawnNode[] {
  const nodes = new Map<string, DrawnNode>();
  for (const { name, section, path, value, line } of hostEntries(source, networkPath)) {
    if (nodes.has(name)) continue;
    const inside = resolved(source, value);
    const kind = section === "routers" ? "router" : "host";
    const host: DrawnNode = { name, kind, address: scalarText(source, inside), routes: [], fields: {}, interfaces: [], path, line };
    if (isMapping(inside)) {
      host.address = scalarText(source, resolvedEntry(source, inside, "address"));
      const routes = toValue(source, resolvedEntry(source, inside, "routes"));
      if (routes !== null && typeof routes === "object" && !Array.isArray(routes)) {
        host.routes = Object.entries(routes).map(([to, via]) => ({ to, via: [via].flat().filter((hop) => typeof hop === "string").join(", ") }));
      }
      for (const { key: field, node } of entries(source, path)) {
        const typed = scalarText(source, resolved(source, node));
        if (typed !== null && field !== "address") host.fields[field] = typed;
      }
      const forwards = scalarText(source, resolvedEntry(source, inside, "forwards"));
      if (forwards !== null) host.kind = isOn(forwards) ? "router" : "host";
    }
    nodes.set(name, host);
  }
  for (const { node, index } of items(source, [...networkPath, "switches"])) {
    const name = scalarText(source, node);
    if (name === null || nodes.has(name)) continue;
    nodes.set(name, { name, kind: "switch", address: null, routes: [], fields: {}, interfaces: [], path: [...networkPath, "switches", index], line: lineOf(source, node) });
  }
  return [...nodes.values()];
}

function readLinks(source: Source, networkPath: Path, nodes: DrawnNode[]): DrawnLink[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const links: DrawnLink[] = [];
  for (const { node, index } of items(source, [...networkPath, "links"])) {
    const inside = resolved(source, node);
    if (!isList(inside)) continue;
    const a = scalarText(source, inside.items[0]) ?? "";
    const b = scalarText(source, inside.items[1]) ?? "";
    const first = byName.get(a);
    const second = byName.get(b);
    if (first === undefined || second === undefined || first === second) continue;
    const fields = toValue(source, inside.items[2]);
    const all = fields !== null && typeof fields === "object" && !Array.isArray(fields) ? fields : {};
    links.push({
      index,
      ends: [a, b],
      interfaces: [newInterface(first), newInterface(second)],
      common: texts(all),
      towards: [texts(inner(all, "to", b)), texts(inner(all, "to", a))],
      addresses: [asText(mapping(all["addresses"])[a]), asText(mapping(all["addresses"])[b])],
      line: lineOf(source, inside),
    });
  }
  return links;
}

/** Numbered by the order of links: hosts from 0, switches from 1. */
function newInterface(node: DrawnNode): string {
  const name = deviceName(node.name, node.interfaces.length + (node.kind === "switch" ? 1 : 0));
  node.interfaces.push(name);
  return name;
}

function readAllFlows(source: Source, chosenCase: string | null): DrawnFlow[] {
  const flows = new Map(readFlows(source, ["flows"]).map((flow) => [flow.name, flow]));
  if (chosenCase !== null) {
    const path = ["cases", chosenCase, "flows"];
    // A flow with no value is left out of the case.
    for (const { key, node } of entries(source, path)) if (isEmpty(resolved(source, node))) flows.delete(key);
    for (const flow of readFlows(source, path)) flows.set(flow.name, flow);
  }
  return [...flows.values()];
}

function readFlows(source: Source, path: Path): DrawnFlow[] {
  return entries(source, path).flatMap(({ key, node, line }) => {
    const fields = mapping(toValue(source, node));
    const tool = Object.keys(fields).find((name) => typeof fields[name] === "string" && /->/.test(String(fields[name])));
    if (tool === undefined) return [];
    const [from = "", to = ""] = String(fields[tool]).split("->");
    return [{ name: key, path: [...path, key], tool, source: from.trim(), target: to.trim(), fields, line }];
  });
}

/** The lines of a list of `NODE: LINE`, also in the forms `[NODE, NODE]: [LINE, LINE]`. */
function readSetup(source: Source, path: Path): DrawnSetupLine[] {
  const found: DrawnSetupLine[] = [];
  for (const { node, index } of items(source, path)) {
    const entry = resolved(source, node);
    if (!isMapping(entry)) continue;
    entry.items.forEach((pair, place) => {
      const nodes = isList(pair.key) ? pair.key.items.map((item) => scalarText(source, item) ?? "") : [keyText(pair)];
      const value = resolved(source, pair.value);
      const at = [...path, index, place];
      if (isList(value)) {
        value.items.forEach((item, number) => {
          found.push({ path: [...at, number], nodes, text: scalarText(source, item) ?? "", line: lineOf(source, item) });
        });
      } else {
        found.push({ path: at, nodes, text: scalarText(source, value) ?? "", line: lineOf(source, pair.key) });
      }
    });
  }
  return found;
}

function readReferences(source: Source): string[] {
  const places: Path[] = [[], ...entries(source, ["cases"]).map(({ key }): Path => ["cases", key])];
  return places.flatMap((place) => [
    ...readSetup(source, [...place, "setup"]).map((line) => line.text),
    ...entries(source, [...place, "probes"]).flatMap(({ node }) => listOf(toValue(source, resolvedEntry(source, node, "of")))),
  ]);
}

function readLayout(source: Source): Drawing["layout"] {
  const layout: Drawing["layout"] = new Map();
  for (const [name, place] of Object.entries(mapping(toValue(source, find(source, ["layout"])?.node)))) {
    if (!Array.isArray(place)) continue;
    const [x, y] = place.map(Number);
    if (x !== undefined && y !== undefined && Number.isFinite(x) && Number.isFinite(y)) layout.set(name, { x, y });
  }
  return layout;
}

function readDecor(source: Source): Pick<Drawing, "colours" | "groups" | "notes"> {
  const colours = Object.entries(mapping(toValue(source, find(source, ["drawing", "colours"])?.node)));
  return {
    colours: new Map(colours.flatMap(([name, colour]) => (typeof colour === "string" ? [[name, colour]] : []))),
    groups: items(source, ["drawing", "groups"]).map(({ node, index }) => {
      const fields = mapping(toValue(source, node));
      const name = asText(fields["name"]) ?? "";
      return { index, name, nodes: listOf(fields["nodes"] ?? null), colour: asText(fields["colour"]), line: lineOf(source, node) };
    }),
    notes: items(source, ["drawing", "notes"]).flatMap(({ node, index }) => {
      const fields = mapping(toValue(source, node));
      const [x, y] = Array.isArray(fields["at"]) ? fields["at"].map(Number) : [];
      const text = asText(fields["text"]);
      if (text === null || x === undefined || y === undefined || !Number.isFinite(x) || !Number.isFinite(y)) return [];
      return [{ index, text: text.trimEnd(), x, y, colour: asText(fields["colour"]), line: lineOf(source, node) }];
    }),
  };
}

function texts(fields: Record<string, Value>): Properties {
  return Object.fromEntries(Object.entries(fields).flatMap(([key, value]) => (value === null || typeof value === "string" ? [[key, value]] : [])));
}
