/**
 * The entries of nodes in a network's text.
 *
 * Lists of names stay lists until one of their hosts gets a property; then the list becomes a
 * mapping, in the same order and with its comments.
 */

import type { NodeKind } from "../drawing";
import { isOn } from "../drawing";
import type { HostEntry, Section } from "../entries";
import { hostEntries } from "../entries";
import type { Draft } from "../yaml/draft";
import { items, scalarText, toValue } from "../yaml/source";
import type { Path, Value } from "../yaml/source";
import { before } from "./common";

/** Adds a node; `value`, what is written of a host or router. */
export function writeNode(draft: Draft, networkPath: Path, kind: NodeKind, name: string, value: Value = null): void {
  if (kind === "switch") draft.append([...networkPath, "switches"], name, { after: before("switches") });
  else writeHost(draft, networkPath, kind === "router" ? "routers" : "hosts", name, withoutForwards(value));
}

function writeHost(draft: Draft, networkPath: Path, section: Section, name: string, value: Value): void {
  const path = [...networkPath, section];
  const there = draft.value(path) ?? null;
  if (value === null && (there === null || typeof there === "string" || Array.isArray(there))) {
    draft.append(path, name, { after: before(section) });
    return;
  }
  draft.nameListToMapping(path);
  draft.set([...path, name], value, { after: before(section) });
}

export function removeNode(draft: Draft, networkPath: Path, name: string): void {
  const entry = entryOf(draft, networkPath, name);
  if (entry !== undefined) {
    // A network has hosts; without a router it has no `routers`.
    const hasOthers = Object.keys(draft.value(networkPath) ?? {}).length > 1;
    draft.remove(entry.path, { prune: entry.section === "routers" && hasOthers });
    return;
  }
  const path = [...networkPath, "switches"];
  const item = items(draft.source, path).find(({ node }) => scalarText(draft.source, node) === name);
  if (item !== undefined) draft.remove([...path, item.index]);
}

function entryOf(draft: Draft, networkPath: Path, name: string): HostEntry | undefined {
  return hostEntries(draft.source, networkPath).find((entry) => entry.name === name);
}

/** Sets the address of a host's first interface, or removes it if null. */
export function writeAddress(draft: Draft, networkPath: Path, name: string, address: string | null): void {
  if (address === null && isBare(draft, networkPath, name)) return;
  const path = fieldsPath(draft, networkPath, name);
  const value = draft.value(path) ?? null;
  if (value !== null && typeof value === "object") setField(draft, path, "address", address);
  else draft.set(path, address);
}

/** Sets a field of a host other than its address, or removes it if null. */
export function writeField(draft: Draft, networkPath: Path, name: string, key: string, value: Value): void {
  if (value === null && isBare(draft, networkPath, name)) return;
  setField(draft, fieldsPath(draft, networkPath, name), key, value);
}

/**
 * Makes a host a router, or a router a host.
 *
 * In a list of hosts, or below `routers`, its name moves to the other field; a host with fields
 * of its own gets `forwards: yes`.
 */
export function writeForwards(draft: Draft, networkPath: Path, name: string, forwards: boolean): void {
  const entry = entryOf(draft, networkPath, name);
  if (entry === undefined) return;
  const isRouter = entry.section === "routers";
  const value = toValue(draft.source, entry.value);
  const typed = value !== null && typeof value === "object" && !Array.isArray(value) ? (value["forwards"] ?? null) : null;
  if ((typed === null ? isRouter : isOn(typed)) === forwards) return;
  const isListed = typeof entry.path.at(-1) === "number";
  if (isRouter === forwards) {
    setField(draft, entry.path, "forwards", null);
  } else if (isRouter || isListed) {
    removeNode(draft, networkPath, name);
    writeNode(draft, networkPath, forwards ? "router" : "host", name, value);
  } else {
    setField(draft, entry.path, "forwards", "yes");
  }
}

/** The path of a host's entry, below which fields can be set: a list of names becomes a mapping. */
export function fieldsPath(draft: Draft, networkPath: Path, name: string): Path {
  const section = [...networkPath, entryOf(draft, networkPath, name)?.section ?? "hosts"];
  draft.nameListToMapping(section);
  return [...section, name];
}

/** Sets a field of a host's entry, or removes it if null; `{address: ADDRESS}` becomes the address alone. */
function setField(draft: Draft, path: Path, key: string, value: Value): void {
  const there = draft.value(path);
  if (typeof there === "string") draft.set(path, { address: there });
  if (value === null) draft.remove([...path, key]);
  else if (there === null) draft.set(path, { [key]: value });
  else draft.set([...path, key], value);
  const left = draft.value(path);
  if (left === null || left === undefined || typeof left !== "object" || Array.isArray(left)) return;
  const keys = Object.keys(left);
  if (keys.length === 0) draft.set(path, null);
  if (keys.length === 1 && keys[0] === "address") draft.set(path, left["address"] ?? null);
}

/** Whether nothing but a host's name is written: then no field can be removed. */
function isBare(draft: Draft, networkPath: Path, name: string): boolean {
  const entry = entryOf(draft, networkPath, name);
  return entry === undefined || toValue(draft.source, entry.value) === null;
}

function withoutForwards(value: Value): Value {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  const rest = Object.entries(value).filter(([key]) => key !== "forwards");
  if (rest.length === 0) return null;
  const [first] = rest;
  return rest.length === 1 && first?.[0] === "address" ? first[1] : Object.fromEntries(rest);
}
