/** Applies the edits of a network that the server recommends. */

import type { RepairEdit } from "../../api/types";
import { isOn } from "../drawing";
import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import type { Path, Value } from "../yaml/source";
import { fieldsPath, writeAddress, writeField, writeForwards } from "./entries";

/** Applies edits to the network in a text. */
export function applyEdits(text: string, networkPath: Path, edits: readonly RepairEdit[]): string {
  return edited(text, (draft) => {
    for (const { path, value } of edits) setAt(draft, networkPath, path, value);
  });
}

/**
 * Sets a value below the network. A host that is only a name or an address, and a link without
 * properties, are expanded first. Null removes the value.
 */
export function setAt(draft: Draft, networkPath: Path, path: Path, value: string | null): void {
  const [part, item, ...rest] = path;
  if ((part === "hosts" || part === "routers") && typeof item === "string") {
    setAtHost(draft, networkPath, item, rest, value);
    return;
  }
  if (value === null) {
    draft.remove([...networkPath, ...path], { prune: true });
    return;
  }
  if (part === "links" && rest[0] === 2 && !draft.has([...networkPath, "links", item ?? 0, 2])) {
    const [, ...keys] = rest;
    draft.append([...networkPath, "links", item ?? 0], nested(keys, value));
    return;
  }
  draft.set([...networkPath, ...path], value);
}

function setAtHost(draft: Draft, networkPath: Path, name: string, field: Path, value: string | null): void {
  const [key, ...rest] = field;
  if (key === "forwards") {
    writeForwards(draft, networkPath, name, isOn(value));
  } else if (key === "address") {
    writeAddress(draft, networkPath, name, value);
  } else if (typeof key === "string") {
    const path = fieldsPath(draft, networkPath, name);
    const there = draft.value([...path, key]) ?? null;
    const count = there === null || typeof there === "string" ? 0 : Object.keys(there).length;
    if (value !== null && count > 0) draft.set([...path, ...field], value);
    else if (value !== null) writeField(draft, networkPath, name, key, nested(rest, value));
    else if (count > 1) draft.remove([...path, ...field]);
    else writeField(draft, networkPath, name, key, null);
  }
}

function nested(keys: Path, value: string): Value {
  return keys.reduceRight<Value>((inner, key) => ({ [key]: inner }), value);
}
