/** The set-up commands of nodes, run before the traffic starts. */

import { isScalar } from "yaml";
import type { DrawnSetupLine } from "../drawing";
import { readDrawing } from "../drawing";
import type { Draft } from "../yaml/draft";
import { edited } from "../yaml/edited";
import { find, isList, isMapping, itemEnd, itemStart, resolved, scalarText } from "../yaml/source";
import type { Path, Source } from "../yaml/source";
import { before } from "./common";

/** Adds a line for one node at the end of the list at `path`: the common one, or a case's. */
export function addSetupLine(text: string, node: string, line: string, path: Path = ["setup"]): string {
  return edited(text, (draft) => appendLine(draft, path, node, line));
}

export function appendLine(draft: Draft, path: Path, node: string, line: string): void {
  draft.append(path, { [node]: line }, { levels: 1, after: before("setup") });
  unwrapLast(draft, path);
}

/** Changes a line for one of its nodes: the others keep it as it was. */
export function setSetupLine(text: string, line: DrawnSetupLine, node: string, words: string): string {
  return edited(text, (draft) => {
    if (line.nodes.length <= 1) {
      draft.set(line.path, words);
      return;
    }
    takeNodeOut(draft, line, node);
    appendLine(draft, listPath(line), node, words);
  });
}

/** Removes a line from one of its nodes: the others keep it. */
export function removeSetupLine(text: string, line: DrawnSetupLine, node: string): string {
  return edited(text, (draft) => {
    if (line.nodes.length <= 1) draft.remove(line.path, { prune: true });
    else takeNodeOut(draft, line, node);
  });
}

/**
 * Sets the value of a node's `sysctl` line, or adds one.
 *
 * Parameters: `value`, null removes the line.
 */
export function setSysctl(text: string, lines: readonly DrawnSetupLine[], node: string, key: string, value: string | null): string {
  const line = lines.filter((one) => one.nodes.includes(node) && sysctlOf(one.text)?.key === key).at(-1);
  if (line === undefined) return value === null ? text : addSetupLine(text, node, sysctlLine(key, value));
  if (value === null) return removeSetupLine(text, line, node);
  return setSetupLine(text, line, node, sysctlLine(key, value));
}

export function sysctlLine(key: string, value: string): string {
  return `sysctl -w ${key}=${/\s/.test(value) ? `'${value}'` : value}`;
}

/** The key and value of a line, if it is a plain `sysctl -w KEY=VALUE`. */
export function sysctlOf(line: string): { key: string; value: string } | null {
  const match = /^\s*sysctl\s+(?:-w\s+)?([\w.]+)\s*=\s*(?:'([^']*)'|"([^"]*)"|(\S+))\s*$/.exec(line);
  if (match === null) return null;
  return { key: match[1] ?? "", value: match[2] ?? match[3] ?? match[4] ?? "" };
}

/** All lines of these nodes, common and of all cases. */
export function removeSetupOf(draft: Draft, names: ReadonlySet<string>): void {
  for (const path of setupPaths(draft.source)) {
    const list = resolved(draft.source, find(draft.source, path)?.node);
    if (!isList(list)) continue;
    for (let index = list.items.length - 1; index >= 0; index--) removeFromEntry(draft, [...path, index], names);
  }
}

function removeFromEntry(draft: Draft, path: Path, names: ReadonlySet<string>): void {
  const entry = resolved(draft.source, find(draft.source, path)?.node);
  if (!isMapping(entry)) return;
  for (let place = entry.items.length - 1; place >= 0; place--) {
    const key = entry.items[place]?.key;
    if (isScalar(key) && names.has(String(key.value))) draft.remove([...path, place], { prune: true });
    if (!isList(key)) continue;
    const left = key.items.filter((item) => !names.has(scalarText(draft.source, item) ?? ""));
    if (left.length === 0) draft.remove([...path, place], { prune: true });
    else if (left.length < key.items.length) {
      for (const name of names) takeKeyOut(draft, [...path, place], name);
    }
  }
}

/** Where set-up lists may be: common, and in each case. */
export function setupPaths(source: Source): Path[] {
  const cases = resolved(source, find(source, ["cases"])?.node);
  const own = isMapping(cases) ? cases.items.map((pair): Path => ["cases", String(pair.key.toJSON()), "setup"]) : [];
  return [["setup"], ...own];
}

/**
 * Removes the line from one node of `[h1, h2]: [line, line]`. If the entry has several
 * lines, the other nodes get separate lines; else the node is only removed from the key.
 */
function takeNodeOut(draft: Draft, line: DrawnSetupLine, node: string): void {
  const entry = entryPath(draft, line);
  const inList = entry.length < line.path.length;
  if (inList) {
    const all = readDrawing(draft.text, ownCase(line.path)).setup.filter((one) => isPrefix(entry, one.path));
    const others = all.filter((one) => one.path.at(-1) !== line.path.at(-1));
    takeKeyOut(draft, entry, node);
    for (const other of others) appendLine(draft, listPath(line), node, other.text);
  } else {
    takeKeyOut(draft, entry, node);
  }
}

function takeKeyOut(draft: Draft, entry: Path, node: string): void {
  const pair = find(draft.source, entry)?.pair;
  const key = pair?.key;
  if (!isList(key)) return;
  const index = key.items.findIndex((item) => scalarText(draft.source, item) === node);
  const item = key.items[index];
  if (item === undefined) return;
  const found = { node: item, pair: null, parent: key, index };
  const next = key.items[index + 1];
  const previous = key.items[index - 1];
  if (next !== undefined) {
    draft.splice([{ from: itemStart(found), to: next.range?.[0] ?? itemStart(found), insert: "" }]);
  } else if (previous !== undefined) {
    draft.splice([{ from: previous.range?.[1] ?? itemStart(found), to: itemEnd(draft.source, found), insert: "" }]);
  }
}

function listPath(line: DrawnSetupLine): Path {
  return line.path.slice(0, line.path.indexOf("setup") + 1);
}

/** Without the number of the line in its entry. */
function entryPath(draft: Draft, line: DrawnSetupLine): Path {
  const start = listPath(line).length + 2;
  return draft.has(line.path) ? line.path.slice(0, start) : line.path;
}

function ownCase(path: Path): string | null {
  return path[0] === "cases" ? String(path[1]) : null;
}

function isPrefix(start: Path, path: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

/** In a list of lines, `- {h1: line}` reads better as `- h1: line`. */
function unwrapLast(draft: Draft, path: Path): void {
  const list = resolved(draft.source, find(draft.source, path)?.node);
  if (!isList(list) || list.flow === true) return;
  const last = list.items.at(-1);
  if (!isMapping(last) || last.flow !== true || last.items.length !== 1 || !last.range) return;
  const [from, to] = last.range;
  const [key, value] = [last.items[0]?.key, last.items[0]?.value];
  if (!key?.range || !value?.range) return;
  draft.splice([{ from, to, insert: draft.text.slice(key.range[0], to - 1) }]);
}
