/** Adding, changing and removing nodes. Renaming has its own module. */

import type { Drawing, NodeKind } from "../drawing";
import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import { isList, resolved, scalarText, find } from "../yaml/source";
import type { Path, Value } from "../yaml/source";
import { addressesOf, before, freeAddress, freeName, namesOf, setOrRemove } from "./common";
import { removeNodeDecor } from "./decor";
import { removeFlows } from "./flows";
import { place } from "./layout";
import { removeLinksOf } from "./links";
import { removeSetupOf } from "./setup";

export interface Added {
  text: string;
  name: string;
}

/** A new node with the next free name and, for a host, address. */
export function addNode(text: string, drawing: Drawing, kind: NodeKind, at: { x: number; y: number }): Added {
  const name = freeName(kind, namesOf(drawing));
  const next = edited(text, (draft) => {
    if (kind === "host") writeHost(draft, drawing.networkPath, name, freeAddress(addressesOf(drawing)));
    if (kind === "router") writeHost(draft, drawing.networkPath, name, { forwards: "yes" });
    if (kind === "switch") writeSwitch(draft, drawing.networkPath, name);
    place(draft, { [name]: at });
  });
  return { text: next, name };
}

export function writeHost(draft: Draft, networkPath: Path, name: string, value: Value): void {
  draft.set([...networkPath, "hosts", name], value, { after: before("hosts") });
}

export function writeSwitch(draft: Draft, networkPath: Path, name: string): void {
  draft.append([...networkPath, "switches"], name, { after: before("switches") });
}

/** With their links, flows, set-up lines and places. */
export function removeNodes(text: string, drawing: Drawing, names: ReadonlySet<string>): string {
  return edited(text, (draft) => {
    removeLinksOf(draft, drawing, names);
    removeFlows(draft, (flow) => names.has(flow.source) || names.has(flow.target), drawing);
    removeSetupOf(draft, names);
    removeNodeDecor(draft, drawing, names);
    for (const node of drawing.nodes) {
      if (!names.has(node.name)) continue;
      if (node.kind === "switch") removeSwitch(draft, drawing.networkPath, node.name);
      else draft.remove([...drawing.networkPath, "hosts", node.name]);
      draft.remove(["layout", node.name], { prune: true });
    }
  });
}

function removeSwitch(draft: Draft, networkPath: Path, name: string): void {
  const path = [...networkPath, "switches"];
  const list = resolved(draft.source, find(draft.source, path)?.node);
  if (!isList(list)) return;
  const index = list.items.findIndex((item) => scalarText(draft.source, item) === name);
  if (index >= 0) draft.remove([...path, index]);
}

/** The address of a host's first interface; null removes it. */
export function setAddress(text: string, networkPath: Path, name: string, address: string | null): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "hosts", name];
    const value = draft.value(path);
    if (typeof value === "object" && value !== null) setOrEmpty(draft, path, "address", address);
    else draft.set(path, address);
  });
}

/** Whether the host passes on packets that are not for itself. */
export function setForwards(text: string, networkPath: Path, name: string, forwards: boolean): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "hosts", name];
    asMapping(draft, path);
    setOrEmpty(draft, path, "forwards", forwards ? "yes" : null);
  });
}

/** Another field of a host, such as `timer_latency`; null removes it. */
export function setHostField(text: string, networkPath: Path, name: string, field: string, typed: string | null): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "hosts", name];
    asMapping(draft, path);
    setOrEmpty(draft, path, field, typed);
  });
}

/** One address, or a list of those that commas separate. */
function nextHops(via: string): string | string[] {
  const hops = via.split(",").map((hop) => hop.trim()).filter((hop) => hop !== "");
  return hops.length > 1 ? hops : via.trim();
}

/** All routes of a host: networks, or `default`, with the next router's address, or several with commas between. */
export function setRoutes(text: string, networkPath: Path, name: string, routes: readonly { to: string; via: string }[]): string {
  return edited(text, (draft) => {
    const path = [...networkPath, "hosts", name];
    asMapping(draft, path);
    const value = Object.fromEntries(routes.map(({ to, via }) => [to, nextHops(via)]));
    setOrEmpty(draft, path, "routes", routes.length === 0 ? null : value);
  });
}

/** `h1: 10.0.0.1/8` becomes `h1: {address: 10.0.0.1/8}`. */
function asMapping(draft: Draft, path: Path): void {
  const value = draft.value(path);
  if (typeof value === "string") draft.set(path, { address: value });
}

/** A host's mapping with only the address becomes a plain address again. */
function setOrEmpty(draft: Draft, path: Path, key: string, value: Value): void {
  if (value !== null || draft.value([...path, key]) !== undefined) {
    if (value === null) draft.remove([...path, key]);
    else setOrRemove(draft, [...path, key], value);
  }
  const left = draft.value(path);
  if (left === null || left === undefined || typeof left !== "object" || Array.isArray(left)) return;
  const keys = Object.keys(left);
  if (keys.length === 0) draft.set(path, null);
  if (keys.length === 1 && keys[0] === "address") draft.set(path, left["address"] ?? null);
}
