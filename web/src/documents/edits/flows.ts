/** The traffic: flows from host to host. */

import { isMap } from "yaml";
import type { DrawnFlow, Drawing } from "../drawing";
import type { Draft } from "../yaml/draft";
import { EditError } from "../yaml/draft";
import { edited } from "../yaml/edited";
import { find, isMapping, keyText, resolved, scalarText } from "../yaml/source";
import type { Path, Source, Value } from "../yaml/source";
import { before } from "./common";

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** A new iperf3 flow of 10 s. */
export function addFlow(text: string, drawing: Drawing, source: string, target: string): { text: string; name: string } {
  if (source === target) throw new EditError(`A flow goes from one host to another: ${source} cannot send to itself.`);
  for (const end of [source, target]) {
    if (drawing.nodes.some((node) => node.name === end && node.kind === "switch")) {
      throw new EditError(`A flow goes from host to host, and ${end} is a switch: it has no address.`);
    }
  }
  const name = freeFlowName(drawing);
  const next = edited(text, (draft) =>
    draft.set(["flows", name], { iperf3: `${source} -> ${target}`, time: "10s" }, { after: before("flows") }),
  );
  return { text: next, name };
}

/** The name of a new flow of a tool, without its number. */
function stem(tool: string): string {
  return tool === "iperf3" ? "bulk" : tool;
}

function freeFlowName(drawing: Drawing, tool = "iperf3"): string {
  const taken = new Set(drawing.flows.map((flow) => flow.name));
  const name = stem(tool);
  if (!taken.has(name)) return name;
  for (let number = 2; ; number++) {
    if (!taken.has(`${name}${number}`)) return `${name}${number}`;
  }
}

/** Whether a flow's name is generated: `bulk2`. */
function hasGeneratedName({ name, tool }: DrawnFlow): boolean {
  return name.startsWith(stem(tool)) && /^\d*$/.test(name.slice(stem(tool).length));
}

/** Sets a field as it was typed; null removes it. */
export function setFlowField(text: string, flow: DrawnFlow, field: string, value: Value): string {
  return edited(text, (draft) => {
    if (value === null) draft.remove([...flow.path, field]);
    else draft.set([...flow.path, field], value);
  });
}

/** Sets source and target; the tool stays. */
export function setFlowEnds(text: string, flow: DrawnFlow, source: string, target: string): string {
  if (source === target) throw new EditError(`A flow goes from one host to another: ${source} cannot send to itself.`);
  return edited(text, (draft) => draft.set([...flow.path, flow.tool], `${source} -> ${target}`));
}

/**
 * Sets the tool. Fields that the new tool has are kept, the others are removed.
 *
 * A generated name contains the tool, so it is replaced by one of the new tool: `bulk2` set
 * to ping is `ping`. Returns the flow's name, too.
 */
export function setFlowTool(text: string, drawing: Drawing, flow: DrawnFlow, tool: string, known: ReadonlySet<string>): { text: string; name: string } {
  const next = edited(text, (draft) => {
    for (const field of Object.keys(flow.fields)) {
      if (field !== flow.tool && !known.has(field)) draft.remove([...flow.path, field]);
    }
    draft.renameKey([...flow.path, flow.tool], tool);
  });
  if (tool === flow.tool || flow.path[0] === "cases" || !hasGeneratedName(flow)) return { text: next, name: flow.name };
  const others = { ...drawing, flows: drawing.flows.filter((other) => other.name !== flow.name) };
  const name = freeFlowName(others, tool);
  return { text: renameFlow(next, others, flow, name), name };
}

export function renameFlow(text: string, drawing: Drawing, flow: DrawnFlow, name: string): string {
  if (!NAME.test(name)) throw new EditError(`'${name}' is not a valid flow name: a name is a letter and up to 63 letters, digits, - or _.`);
  if (drawing.flows.some((other) => other.name === name)) throw new EditError(`There is a flow '${name}' already: choose another name.`);
  return edited(text, (draft) => {
    for (const path of flowPaths(draft.source)) {
      if (draft.has([...path, flow.name])) draft.renameKey([...path, flow.name], name);
      renameReferences(draft, path, "after", flow.name, name);
    }
    for (const path of probePaths(draft.source)) renameReferences(draft, path, "of", flow.name, name);
  });
}

/** Removes flows, `after` fields that refer to them, and probes of nothing else. */
export function removeFlows(draft: Draft, wanted: (flow: DrawnFlow) => boolean, drawing: Drawing): void {
  for (const flow of drawing.flows) {
    if (!wanted(flow)) continue;
    for (const path of flowPaths(draft.source)) draft.remove([...path, flow.name], { prune: true });
    for (const path of flowPaths(draft.source)) {
      for (const name of keysOf(draft.source, path)) {
        if (textOf(draft.source, [...path, name, "after"]) === flow.name) draft.remove([...path, name, "after"]);
      }
    }
    for (const path of probePaths(draft.source)) {
      for (const name of keysOf(draft.source, path)) {
        if (textOf(draft.source, [...path, name, "of"]) === flow.name) draft.remove([...path, name], { prune: true });
      }
    }
  }
}

/** Entries of mappings in `path` whose `field` is the name, alone or in a list. */
export function renameReferences(draft: Draft, path: Path, field: string, from: string, to: string): void {
  for (const name of keysOf(draft.source, path)) {
    const at = [...path, name, field];
    const value = draft.value(at);
    if (value === from) draft.set(at, to);
    if (!Array.isArray(value)) continue;
    value.forEach((item, index) => {
      if (item === from) draft.set([...at, index], to);
    });
  }
}

/** Common, and in each case. */
export function flowPaths(source: Source): Path[] {
  return everywhere(source, "flows");
}

export function probePaths(source: Source): Path[] {
  return everywhere(source, "probes");
}

export function everywhere(source: Source, field: string): Path[] {
  const cases = keysOf(source, ["cases"]).map((name): Path => ["cases", name, field]);
  return [[field], ...cases].filter((path) => isMap(resolved(source, find(source, path)?.node)));
}

export function keysOf(source: Source, path: Path): string[] {
  const inside = resolved(source, find(source, path)?.node);
  return isMapping(inside) ? inside.items.map(keyText) : [];
}

function textOf(source: Source, path: Path): string | null {
  return scalarText(source, find(source, path)?.node);
}
