/** Helpers of several edits: the order of keys in a file, names, and addresses. */

import { MAX_NODE_NAME_LENGTH } from "../devices";
import type { Drawing, NodeKind } from "../drawing";
import type { Draft } from "../yaml/draft";
import { EditError } from "../yaml/draft";
import type { Path, Value } from "../yaml/source";

const ORDER = ["title", "kernel", "seed", "seeds", "memory", "network", "files", "setup", "flows", "probes", "events", "cases", "claims", "published", "layout", "drawing"];
const NETWORK_ORDER = ["hosts", "routers", "switches", "links"];

/** The keys after which a new top-level field, or part of the network, is inserted. */
export function before(key: string): string[] {
  const order = NETWORK_ORDER.includes(key) ? NETWORK_ORDER : ORDER;
  return order.slice(0, order.indexOf(key));
}

/** The letters that new names begin with. */
const INITIALS: Record<NodeKind, string> = { host: "h", router: "r", switch: "s" };

const NAME = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,${MAX_NODE_NAME_LENGTH - 1}}$`);
const TAKEN = new Set(["root", "lo", "all", "default"]);

export function freeName(kind: NodeKind, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = `${INITIALS[kind]}${number}`;
    if (!taken.has(name)) return name;
  }
}

/** Why a node's name is rejected; null if it is valid. */
export function nameProblem(name: string, taken: ReadonlySet<string>): string | null {
  if (!NAME.test(name)) return `'${name}' is not a valid name: a name is a letter or a digit and up to ${MAX_NODE_NAME_LENGTH - 1} letters, digits, - or _.`;
  if (TAKEN.has(name)) return `'${name}' is reserved in Linux: choose another name.`;
  if (taken.has(name)) return `There is a '${name}' already: choose another name.`;
  return null;
}

export function requireValidName(name: string, taken: ReadonlySet<string>): void {
  const problem = nameProblem(name, taken);
  if (problem !== null) throw new EditError(problem);
}

export function namesOf(drawing: Drawing): Set<string> {
  return new Set(drawing.nodes.map((node) => node.name));
}

/** All addresses in the network, without their prefix lengths. */
export function addressesOf(drawing: Drawing): Set<string> {
  const all = [...drawing.nodes.map((node) => node.address), ...drawing.links.flatMap((link) => link.addresses)];
  return new Set(all.flatMap((address) => (address === null ? [] : [address.split("/")[0] ?? ""])));
}

/** The next free address after `like`. */
export function freeAddress(taken: ReadonlySet<string>, like: string): string {
  const [address = "", prefix = "8"] = like.split("/");
  const bytes = address.split(".").map(Number);
  if (bytes.length !== 4 || bytes.some((byte) => !Number.isInteger(byte))) return like;
  let number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  for (;;) {
    number += 1;
    const last = number % 256;
    const text = [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
    if (last !== 0 && last !== 255 && !taken.has(text)) return `${text}/${prefix}`;
  }
}

/** Sets a value, or removes it if null. */
export function setOrRemove(draft: Draft, path: Path, value: Value): void {
  if (value === null) draft.remove(path, { prune: true });
  else draft.set(path, value);
}
