/**
 * Renames a node wherever it is referred to: links, their ends' properties,
 * set-up lines, interfaces in lines and probes, flows, and the place on the canvas.
 *
 * It replaces scalars of the tree in place: quotes and comments are preserved.
 */

import { isMap, isScalar, visit } from "yaml";
import type { Scalar } from "yaml";
import type { Drawing } from "../drawing";
import { edited } from "../yaml/edited";
import { renderScalar } from "../yaml/render";
import { isList, isMapping } from "../yaml/source";
import type { Source } from "../yaml/source";
import { namesOf, requireValidName } from "./common";
import { renameInterfaces } from "./interfaces";

/** Throws EditError if the name is invalid or taken. */
export function renameNode(text: string, drawing: Drawing, from: string, to: string): string {
  if (from === to) return text;
  requireValidName(to, namesOf(drawing));
  return edited(text, (draft) => {
    const splices = scalars(draft.source).flatMap(({ scalar, way }) => {
      const renamed = newText(String(scalar.value), way, from, to);
      return renamed === scalar.value || !scalar.range
        ? []
        : [{ from: scalar.range[0], to: scalar.range[1], insert: quotedAs(scalar, renamed) }];
    });
    draft.splice(splices);
  });
}

/** A scalar with its path of keys; `key:` is a key itself, `[]` is a list's item. */
function scalars(source: Source): { scalar: Scalar; way: string[] }[] {
  const found: { scalar: Scalar; way: string[] }[] = [];
  visit(source.tree, {
    Scalar(key, scalar, ancestors) {
      const way: string[] = [];
      ancestors.forEach((ancestor, index) => {
        const next = ancestors[index + 1] ?? scalar;
        if (isList(ancestor)) way.push("[]");
        if (isMapping(ancestor)) {
          const pair = ancestor.items.find((one) => one === next);
          if (pair === undefined) return;
          const inside = ancestors[index + 2] ?? scalar;
          way.push(pair.key === inside ? "key:" : isScalar(pair.key) ? String(pair.key.value) : "[nodes]");
        }
      });
      if (isMap(ancestors.at(-1)) && key === "key") way.push("key:");
      found.push({ scalar, way });
    },
  });
  return found;
}

function newText(text: string, way: readonly string[], from: string, to: string): string {
  const inside = way[0] === "cases" ? way.slice(2) : way;
  const [field, second] = inside;
  const isKey = inside.at(-1) === "key:";
  const whole = text === from ? to : text;
  switch (field) {
    case "network":
      return networkText(text, whole, inside, isKey);
    case "layout":
      return inside.length === 2 && isKey ? whole : text;
    case "drawing":
      // A colour's node, and the nodes of a group.
      if (second === "colours") return inside.length === 3 && isKey ? whole : text;
      return second === "groups" && inside.includes("nodes") && !isKey ? whole : text;
    case "setup":
      return inside.includes("key:") ? whole : renameInterfaces(text, new Map([[from, to]]));
    case "flows":
      return second !== "key:" && !isKey && text.includes("->") ? renameEnds(text, from, to) : text;
    case "probes":
      return inside.includes("of") && !isKey ? renameInterfaces(text, new Map([[from, to]])) : text;
    default:
      return text;
  }
}

function networkText(text: string, whole: string, inside: readonly string[], isKey: boolean): string {
  const [, part, item, third, fourth] = inside;
  if (part === "hosts" || part === "routers") return item === "key:" || (item === "[]" && inside.length === 3) ? whole : text;
  if (part === "switches") return whole;
  if (part !== "links" || item !== "[]") return text;
  if (inside.length === 4 && third === "[]") return whole;
  return isKey && inside.length === 6 && (fourth === "to" || fourth === "addresses") ? whole : text;
}

function renameEnds(text: string, from: string, to: string): string {
  return text.replace(/[^\s>]+?(?=\s*->|\s*$)/g, (word) => (word === from ? to : word));
}

function quotedAs(scalar: Scalar, text: string): string {
  if (scalar.type === "QUOTE_SINGLE") return `'${text.replaceAll("'", "''")}'`;
  if (scalar.type === "QUOTE_DOUBLE") return JSON.stringify(text);
  return renderScalar(text);
}
