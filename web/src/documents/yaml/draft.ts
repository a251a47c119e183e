/**
 * Edits of a text: small changes by path, one after the other.
 *
 * Each change replaces as little text as possible. The text is parsed again after
 * it, so that the next change sees the result.
 */

import { isAlias, isScalar } from "yaml";
import { renderBehindColon, renderEntry, renderFlow, renderScalar } from "./render";
import { aliasOnTheWay, find, isEmpty, isList, isMapping, itemEnd, itemStart, itemToken, keyText, readSource, toValue, valueAt } from "./source";
import type { Found, Path, Source, Value } from "./source";

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

export function columnOf(text: string, at: number): number {
  return at - lineStart(text, at);
}

/** The indentation of the mapping's lines. */
export function indentOf(text: string, at: number): string {
  return " ".repeat(columnOf(text, at));
}

/** A list's item or a mapping's entry by its number; null where there is none. */
export function itemAt(holder: { items: unknown[] }, index: number): Found | null {
  if (isMapping(holder)) {
    const pair = holder.items[index];
    return pair === undefined ? null : { node: pair.value, pair, parent: holder, index };
  }
  if (!isList(holder)) return null;
  const node = holder.items[index];
  return node === undefined ? null : { node, pair: null, parent: holder, index };
}

/** A change that cannot be made; the message is shown to the user. */
export class EditError extends Error {
  override name = "EditError";
}

interface Splice {
  from: number;
  to: number;
  insert: string;
}

/** Lines of flow style are broken near this width. */
const WIDTH = 100;

export class Draft {
  #source: Source;

  constructor(text: string) {
    this.#source = readSource(text);
  }

  get text(): string {
    return this.#source.text;
  }

  get source(): Source {
    return this.#source;
  }

  has(path: Path): boolean {
    return find(this.#source, path) !== null;
  }

  value(path: Path): Value | undefined {
    return valueAt(this.#source, path);
  }

  /**
   * Sets the value at a path; missing mappings are created.
   *
   * Parameters: `levels`, in how many levels a new value has a line for each entry;
   * `after`, the keys after which a new key is inserted.
   */
  set(path: Path, value: Value, { levels = 0, after = null }: { levels?: number; after?: readonly string[] | null } = {}): void {
    this.#expand(path);
    const found = find(this.#source, path);
    if (found !== null) {
      this.#replace(found, value, levels);
      return;
    }
    const key = path.at(-1);
    const way = path.slice(0, -1);
    if (typeof key !== "string") throw new EditError(`There is no entry ${String(key)} to change.`);
    const holder = way.length === 0 ? this.#top() : find(this.#source, way);
    if (holder === null) {
      this.set(way, { [key]: value }, { levels: levels + 1, after });
    } else if (isEmpty(holder.node)) {
      this.#replace(holder, { [key]: value }, levels + 1);
    } else {
      this.#addEntry(holder, key, value, levels, after);
    }
  }

  /** Sets many entries of one mapping at once, as in moving 200 nodes. */
  setEntries(path: Path, entries: Record<string, Value>): void {
    this.#expand([...path, ""]);
    const fresh: Record<string, Value> = {};
    const splices: Splice[] = [];
    for (const [key, value] of Object.entries(entries)) {
      const found = find(this.#source, [...path, key]);
      if (found?.node && !isEmpty(found.node) && !isMapping(found.node)) {
        splices.push({ from: found.node.range?.[0] ?? 0, to: itemEnd(this.#source, found), insert: renderFlow(value) });
      } else {
        fresh[key] = value;
      }
    }
    this.#apply(splices);
    if (!this.has(path) && Object.keys(fresh).length > 0) {
      this.set(path, fresh, { levels: 1 });
      return;
    }
    for (const [key, value] of Object.entries(fresh)) this.set([...path, key], value);
  }

  /** Adds an item at a list's end; the list is made where it is missing. */
  append(path: Path, value: Value, { levels = 0, after = null }: { levels?: number; after?: readonly string[] | null } = {}): void {
    this.#expand([...path, 0]);
    const found = find(this.#source, path);
    if (found === null || isEmpty(found.node)) {
      this.set(path, [value], { levels, after });
      return;
    }
    const list = found.node;
    if (!isList(list)) throw new EditError(`\`${path.join(".")}\` is not a list. Fix it in the text.`);
    this.#insertLast(list, list.flow === true, renderFlow(value), "- ");
  }

  /** Removes an entry or an item; the parent too, if `prune` is set and it becomes empty. */
  remove(path: Path, { prune = false }: { prune?: boolean } = {}): void {
    this.#expand(path);
    const found = find(this.#source, path);
    if (found === null || found.parent === null) return;
    const way = path.slice(0, -1);
    if (found.parent.items.length > 1 || way.length === 0) {
      this.#apply([this.#cut(found)]);
    } else if (prune) {
      this.remove(way, { prune });
    } else {
      const holder = find(this.#source, way);
      if (holder !== null) this.#replace(holder, isMapping(found.parent) ? {} : [], 0);
    }
  }

  /** Turns a list of names into a mapping with an entry without a value for each. */
  nameListToMapping(path: Path): void {
    const names = this.value(path);
    if (!Array.isArray(names)) return;
    names.forEach((_, index) => this.#expand([...path, index, 0]));
    const found = find(this.#source, path);
    const node = found?.node;
    if (!found || !isList(node) || !node.range) return;
    const splices = node.items.flatMap((item, index): Splice[] => {
      const place = itemAt(node, index);
      if (place === null || !isScalar(item) || !item.range || isEmpty(item)) {
        throw new EditError(`\`${path.join(".")}\` is not a list of names. Fix it in the text.`);
      }
      const end = itemEnd(this.#source, place);
      const colon = { from: end, to: end, insert: node.flow === true && /^[^\S\n]*[,\]]/.test(this.text.slice(end)) ? ": " : ":" };
      if (node.flow === true) return [colon];
      // The dash goes. A list may be as far to the left as its key, a mapping may not.
      const dash = itemStart(place);
      const isAtKey = found.pair !== null && columnOf(this.text, dash) <= columnOf(this.text, itemStart(found));
      const space = /^-[ \t]*/.exec(this.text.slice(dash))?.[0].length ?? 0;
      return [{ from: dash, to: dash + space, insert: isAtKey ? "  " : "" }, colon];
    });
    if (node.flow === true) {
      const [from, to] = node.range;
      splices.push({ from, to: from + 1, insert: "{" }, { from: to - 1, to, insert: "}" });
    }
    this.#apply(splices);
  }

  renameKey(path: Path, name: string): void {
    this.#expand(path);
    const range = find(this.#source, path)?.pair?.key.range;
    if (range) this.#apply([{ from: range[0], to: range[1], insert: renderScalar(name) }]);
  }

  /** Replaces ranges of the text that the caller has found in `source`. */
  splice(splices: readonly Splice[]): void {
    this.#apply(splices);
  }

  #top(): Found {
    return { node: this.#source.tree.contents, pair: null, parent: null, index: 0 };
  }

  /** Replaces an alias `*name` on the path by a copy: other uses keep theirs. */
  #expand(path: Path): void {
    for (let start = aliasOnTheWay(this.#source, path); start !== null; start = aliasOnTheWay(this.#source, path)) {
      const found = find(this.#source, start);
      const range = found?.node?.range;
      if (!found || !range || !isAlias(found.node)) return;
      this.#apply([{ from: range[0], to: range[1], insert: renderFlow(toValue(this.#source, found.node)) }]);
    }
  }

  #apply(splices: readonly Splice[]): void {
    let text = this.#source.text;
    for (const { from, to, insert } of [...splices].sort((one, other) => other.from - one.from || other.to - one.to)) {
      text = text.slice(0, from) + insert + text.slice(to);
    }
    if (text !== this.#source.text) this.#source = readSource(text);
  }

  #replace(found: Found, value: Value, levels: number): void {
    const { text } = this.#source;
    if (found.parent === null && found.pair === null) {
      const whole = Object.entries(value ?? {}).map(([key, item]) => `${renderScalar(key)}:${renderBehindColon(item as Value, levels - 1, "")}\n`);
      this.#apply([{ from: text.length, to: text.length, insert: whole.join("") }]);
      return;
    }
    if (found.pair === null) {
      const range = found.node?.range;
      if (range) this.#apply([{ from: range[0], to: itemEnd(this.#source, found), insert: renderFlow(value) }]);
      return;
    }
    const sep = itemToken(found)?.sep ?? [];
    const colon = sep.find((token) => token.type === "map-value-ind");
    const keyEnd = found.pair.key.range?.[1] ?? 0;
    const inFlow = isMapping(found.parent) && found.parent.flow === true;
    const empty = isEmpty(found.node);
    const start = found.node?.range?.[0] ?? keyEnd;
    const behind = renderBehindColon(value, inFlow ? 0 : levels, indentOf(this.text, itemStart(found)));
    if (colon === undefined) {
      this.#apply([{ from: keyEnd, to: keyEnd, insert: `:${behind}` }]);
    } else if (empty) {
      const from = colon.offset + 1;
      const gap = /^ */.exec(text.slice(from))?.[0].length ?? 0;
      const atComment = text.charAt(from + gap) === "#";
      this.#apply([{ from, to: atComment ? from : from + gap, insert: value === null && inFlow ? " " : behind }]);
    } else if (typeof value !== "object" && !text.slice(colon.offset, start).includes("\n")) {
      this.#apply([{ from: start, to: itemEnd(this.#source, found), insert: renderFlow(value) }]);
    } else {
      this.#apply([{ from: colon.offset + 1, to: itemEnd(this.#source, found), insert: value === null && inFlow ? " " : behind }]);
    }
  }

  #addEntry(holder: Found, key: string, value: Value, levels: number, after: readonly string[] | null): void {
    const mapping = holder.node;
    if (!isMapping(mapping)) throw new EditError(`\`${key}\` cannot be inserted here: this is not a mapping. Fix it in the text.`);
    if (mapping.flow === true) {
      this.#insertLast(mapping, true, renderEntry(key, value), "");
      return;
    }
    const known = after === null ? -1 : mapping.items.reduce((last, pair, at) => (after.includes(keyText(pair)) ? at : last), -1);
    const index = known < 0 ? mapping.items.length - 1 : known;
    const pair = mapping.items[index];
    if (pair === undefined) return;
    const place: Found = { node: pair.value, pair, parent: mapping, index };
    const indent = indentOf(this.text, itemStart(place));
    const end = lineEnd(this.text, itemEnd(this.#source, place));
    const spaced = holder.parent === null && /\n[ \t]*\n/.test(this.text.trim()) && levels > 0 ? "\n" : "";
    const entry = `${renderScalar(key)}:${renderBehindColon(value, levels, indent)}`;
    this.#apply([{ from: end, to: end, insert: `\n${spaced}${indent}${entry}` }]);
  }

  #insertLast(holder: { items: unknown[]; range?: readonly [number, number, number] | null }, flow: boolean, item: string, mark: string): void {
    const { text } = this.#source;
    const last = itemAt(holder, holder.items.length - 1);
    if (last === null) {
      const range = holder.range;
      if (range) this.#apply([{ from: range[0] + 1, to: range[1] - 1, insert: item }]);
      return;
    }
    const end = flow ? this.#flowEnd(last) : itemEnd(this.#source, last);
    const first = itemAt(holder, 0);
    const column = first === null ? 0 : columnOf(this.text, itemStart(first));
    if (!flow) {
      const at = lineEnd(this.text, end);
      this.#apply([{ from: at, to: at, insert: `\n${" ".repeat(column)}${mark}${item}` }]);
      return;
    }
    const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
    const at = end + comma;
    const before = itemAt(holder, holder.items.length - 2);
    const lines = new Set(holder.items.map((_, index) => this.#lineOfItem(holder, index)));
    const eachOnOwnLine = before !== null && lines.size === holder.items.length;
    const tooWide = columnOf(this.text, at) + item.length + 3 > WIDTH;
    const gap = eachOnOwnLine || tooWide ? `\n${" ".repeat(column)}` : " ";
    this.#apply([{ from: at, to: at, insert: `${comma > 0 ? "" : ","}${gap}${item}` }]);
  }

  /** Where an item of flow style ends. The blank after the colon of an entry without a value belongs to it: `{h1: , h2: }`. */
  #flowEnd(item: Found): number {
    const end = itemEnd(this.#source, item);
    const blanks = item.pair !== null && isEmpty(item.node) ? /^ */.exec(this.text.slice(end)) : null;
    return end + (blanks?.[0].length ?? 0);
  }

  #lineOfItem(holder: { items: unknown[] }, index: number): number {
    const found = itemAt(holder, index);
    return found === null ? -1 : lineStart(this.text, itemStart(found));
  }

  #cut(found: Found): Splice {
    const { text } = this.#source;
    const holder = found.parent;
    const start = itemStart(found);
    const end = itemEnd(this.#source, found);
    const next = holder === null ? null : itemAt(holder, found.index + 1);
    const before = holder === null ? null : itemAt(holder, found.index - 1);
    if (holder?.flow === true) {
      if (next !== null) return { from: start, to: itemStart(next), insert: "" };
      return { from: before === null ? start : this.#flowEnd(before), to: this.#flowEnd(found), insert: "" };
    }
    const begin = lineStart(this.text, start);
    if (text.slice(begin, start).trim() !== "" && next !== null) return { from: start, to: itemStart(next), insert: "" };
    return { from: begin, to: Math.min(lineEnd(this.text, end) + 1, text.length), insert: "" };
  }
}
