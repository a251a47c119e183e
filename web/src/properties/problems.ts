/** Assigns a check's problems to fields, nodes and links. */

import type { CheckResult, Problem } from "../api/types";
import type { Drawing } from "../documents/drawing";
import type { Path } from "../documents/yaml/source";

/** `network.links[2].delay`, as the server writes fields. */
export function fieldName(path: Path): string {
  return path.reduce<string>((name, step) => (typeof step === "number" ? `${name}[${step}]` : name === "" ? step : `${name}.${step}`), "");
}

/** The problem of a field, or of something in it. */
export function problemOf(problems: readonly Problem[], field: string): Problem | null {
  return problems.find((one) => one.field === field) ?? problems.find((one) => isInside(one.field, field)) ?? null;
}

export function isInside(field: string, of: string): boolean {
  return field.startsWith(of) && /^($|[.[])/.test(field.slice(of.length));
}

export interface Marked {
  nodes: Set<string>;
  links: Set<number>;
}

/** The nodes and links that have problems. */
export function problemsAt(check: Pick<CheckResult, "problems"> | null, drawing: Drawing): Marked {
  const marked: Marked = { nodes: new Set(), links: new Set() };
  const network = fieldName(drawing.networkPath);
  const fields = drawing.nodes.map(({ name, path }) => ({ name, own: fieldName(path) }));
  for (const { field } of check?.problems ?? []) {
    for (const { name, own } of fields) if (isInside(field, own)) marked.nodes.add(name);
    for (const { index } of drawing.links) if (isInside(field, `${network}.links[${index}]`)) marked.links.add(index);
  }
  return marked;
}
