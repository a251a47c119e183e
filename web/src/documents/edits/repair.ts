/** Applies the edits of a network that the server recommends. */

import type { RepairEdit } from "../../api/types";
import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import type { Path, Value } from "../yaml/source";

/** Applies edits to the network in a text. */
export function applyEdits(text: string, networkPath: Path, edits: readonly RepairEdit[]): string {
  return edited(text, (draft) => {
    for (const { path, value } of edits) setAt(draft, networkPath, path, value);
  });
}

/** The addresses and routes that edits assign, in the notation of `longfat.study.proposal`: `HOST ADDRESS` and `HOST TO VIA`. */
export function assignedBy(edits: readonly RepairEdit[]): string[] {
  return edits.flatMap(({ path, value }) => {
    if (value === null) return [];
    const [part, host, field, to] = path;
    if (part === "links") return [`${String(path.at(-1))} ${value}`];
    if (field === "address") return [`${String(host)} ${value}`];
    return field === "routes" ? [`${String(host)} ${String(to)} ${value}`] : [];
  });
}

/**
 * Sets a value below the network. A host that is only an address, and a link without
 * properties, are expanded first. Null removes the value.
 */
export function setAt(draft: Draft, networkPath: Path, path: Path, value: string | null): void {
  if (value === null) {
    draft.remove([...networkPath, ...path], { prune: true });
    return;
  }
  const [part, item, ...rest] = path;
  if (part === "hosts" && typeof item === "string") {
    const host = [...networkPath, "hosts", item];
    const there = draft.value(host);
    if (rest.length === 1 && rest[0] === "address" && (there === null || typeof there === "string")) {
      draft.set(host, value);
      return;
    }
    if (typeof there === "string") draft.set(host, { address: there });
  }
  if (part === "links" && rest[0] === 2 && !draft.has([...networkPath, "links", item ?? 0, 2])) {
    const [, ...keys] = rest;
    draft.append([...networkPath, "links", item ?? 0], nested(keys, value));
    return;
  }
  draft.set([...networkPath, ...path], value);
}

function nested(keys: Path, value: string): Value {
  return keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), value);
}
