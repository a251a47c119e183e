/**
 * Completion in the text of a study: keys and values of the JSON Schema, with their descriptions, and
 * the names of nodes and flows where one belongs.
 */

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { getJson } from "../api/client";
import { useServer } from "../app/server";
import { readDrawing } from "../documents/drawing";
import type { Drawing } from "../documents/drawing";
import { placeAt } from "./position";
import type { TextPlace } from "./position";

export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  title?: string;
  description?: string;
}

let loading: Promise<Schema> | null = null;

/** From the server, once. */
function schema(): Promise<Schema> {
  loading ??= getJson<Schema>("/api/schema").catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

export async function completionsFrom(context: CompletionContext): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[\w.-]*/);
  if (word === null || (word.from === word.to && !context.explicit)) return null;
  const text = context.state.doc.toString();
  const place = placeAt(text, word.from);
  if (place === null) return null;
  try {
    const options = optionsAt(await schema(), place, readDrawing(text));
    return options.length === 0 ? null : { from: word.from, options, validFor: /^[\w.-]*$/ };
  } catch {
    return null;
  }
}

/** The completions at a position. */
export function optionsAt(root: Schema, place: TextPlace, drawing: Drawing): Completion[] {
  const names = namesAt(place, drawing);
  if (names.length > 0) return names;
  const here = place.path.reduce<Schema[]>((found, step) => found.flatMap((one) => inside(root, one, step)), [root]);
  const options = new Map<string, Completion>();
  for (const one of here.flatMap((schemaHere) => choices(root, schemaHere))) {
    if (place.isKey) {
      for (const [key, value] of Object.entries(one.properties ?? {})) {
        if (!place.taken.includes(key) && !options.has(key)) {
          options.set(key, { label: key, apply: `${key}: `, type: "property", ...about(root, value) });
        }
      }
    } else {
      for (const value of [...(one.enum ?? []), ...(one.const === undefined ? [] : [one.const])]) {
        // `true` and `yes` are the same: studies use the latter.
        if (typeof value === "string") options.set(value, { label: value, type: "enum", ...about(root, one) });
      }
      for (const value of one.examples ?? []) {
        if (typeof value === "string" && !options.has(value)) options.set(value, { label: value, type: "text", detail: "example", boost: -1 });
      }
    }
  }
  return [...options.values()];
}

function about(root: Schema, schemaHere: Schema): Partial<Completion> {
  const described = [schemaHere, ...choices(root, schemaHere)].find((one) => one.description !== undefined);
  return described?.description === undefined ? {} : { info: described.description, ...(described.title === undefined ? {} : { detail: described.title }) };
}

/** The schemas of the value of a key, or at an index. */
function inside(root: Schema, holder: Schema, step: string | number): Schema[] {
  return choices(root, holder).flatMap((one) => {
    if (typeof step === "number") {
      const item = one.prefixItems?.[step] ?? (one.prefixItems === undefined ? one.items : undefined);
      return item === undefined ? [] : [item];
    }
    const own = one.properties?.[step];
    if (own !== undefined) return [own];
    return typeof one.additionalProperties === "object" ? [one.additionalProperties] : [];
  });
}

/** A schema's alternatives, with references followed. */
function choices(root: Schema, one: Schema): Schema[] {
  if (one.$ref !== undefined) {
    const target = root.$defs?.[one.$ref.replace("#/$defs/", "")];
    return target === undefined ? [] : choices(root, target);
  }
  const all = [...(one.anyOf ?? []), ...(one.oneOf ?? [])].flatMap((other) => choices(root, other));
  return [one, ...all];
}

/** Names of nodes and flows, where one is expected. */
function namesAt({ path, isKey, before }: TextPlace, drawing: Drawing): Completion[] {
  const [top] = path[0] === "cases" ? path.slice(2) : path;
  const rest = path[0] === "cases" ? path.slice(3) : path.slice(1);
  const hosts = drawing.nodes.filter((node) => node.kind !== "switch").map(({ name }) => name);
  const nodes = drawing.nodes.map(({ name }) => name);
  const flows = drawing.flows.map(({ name }) => name);
  const listed = (names: readonly string[], detail: string, apply = (name: string) => name): Completion[] =>
    names.map((name) => ({ label: name, type: "variable", detail, apply: apply(name) }));
  if (top === "network" && rest[0] === "links") {
    if (!isKey && rest.length === 3 && (rest[2] === 0 || rest[2] === 1)) return listed(nodes, "node");
    if (isKey && (rest.at(-1) === "to" || rest.at(-1) === "addresses")) return listed(nodes, "node", (name) => `${name}: `);
  }
  if (top === "flows" && rest.length === 2 && !isKey) {
    if (/->\s*$/.test(before) || (/^\s*$/.test(before) && isTool(rest[1], drawing))) return listed(hosts, "host");
    if (rest[1] === "after") return listed(flows, "flow");
  }
  if (top === "setup" && isKey && rest.length <= 1) return listed(["root", ...hosts], "node", (name) => `${name}: `);
  if (top === "probes" && !isKey && rest[1] === "of") return [...listed(flows, "flow"), ...listed(drawing.nodes.flatMap(({ interfaces }) => interfaces), "interface")];
  if ((top === "layout" && isKey) || (path.join(".").startsWith("drawing.colours") && isKey && path.length === 2)) return listed(nodes, "node", (name) => `${name}: `);
  if (path[0] === "drawing" && path.includes("nodes") && !isKey) return listed(nodes, "node");
  return [];
}

function isTool(key: string | number | undefined, drawing: Drawing): boolean {
  const tools = useServer.getState().state?.fields.tools ?? {};
  return typeof key === "string" && (key in tools || drawing.flows.some(({ tool }) => tool === key));
}
