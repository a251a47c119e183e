/**
 * The position in a study's text: the keys that lead there, and whether a key or a value
 * is expected. The text is being typed and may not be valid YAML yet, so only indentation
 * and brackets are considered.
 */

export interface TextPlace {
  path: (string | number)[];
  isKey: boolean;
  /** The keys that the mapping has already. */
  taken: string[];
  /** The text before the word, in its value. */
  before: string;
}

interface Level {
  indent: number;
  step: string | number;
}

const KEY = /^(\s*)((?:- +)*)(?:("[^"]*"|'[^']*'|[\w./-]+)\s*:(?=\s|$))?/;

/** Null within a comment or a block of lines. */
export function placeAt(text: string, offset: number): TextPlace | null {
  const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
  const lines = text.slice(0, lineStart).split("\n").slice(0, -1);
  const current = text.slice(lineStart, offset);
  if (/(^|\s)#/.test(current)) return null;
  const levels: Level[] = [];
  const counts = new Map<string, number>();
  const taken = new Map<string, string[]>();
  let open = "";
  for (const line of lines) {
    const bare = line.replace(/(^|\s)#.*$/, "");
    if (bare.trim() === "") continue;
    // Lines within open brackets belong to the value.
    if (open !== "") {
      open += `\n${bare}`;
      if (depthOf(open) <= 0) open = "";
      continue;
    }
    const value = enter(bare, levels, counts, taken);
    if (depthOf(value) > 0) open = value;
  }
  if (open !== "") return inFlow(pathOf(levels), `${open}\n${current}`);
  const value = enter(current, levels, counts, taken);
  const path = pathOf(levels);
  if (depthOf(value) > 0) return inFlow(path, value);
  const isKey = !/:\s/.test(current.replace(/^(\s*(- +)*)/, "")) && !/:$/.test(current.trimEnd());
  return { path, isKey, taken: isKey ? (taken.get(path.join("\0")) ?? []) : [], before: value };
}

/** Processes a line; returns the value that begins in it. */
function enter(line: string, levels: Level[], counts: Map<string, number>, taken: Map<string, string[]>): string {
  const found = KEY.exec(line);
  let indent = found?.[1]?.length ?? 0;
  const dashes = found?.[2] ?? "";
  while ((levels.at(-1)?.indent ?? -1) >= indent + (dashes === "" ? 0 : 1)) levels.pop();
  if (dashes !== "") {
    // A list may have the indentation of its key: then only items of that indentation end.
    while (typeof levels.at(-1)?.step === "number" && (levels.at(-1)?.indent ?? -1) >= indent) levels.pop();
  }
  for (const dash of dashes.match(/- +/g) ?? []) {
    const list = pathOf(levels).join("\0");
    const number = (counts.get(list) ?? -1) + 1;
    counts.set(list, number);
    levels.push({ indent: indent + 0.5, step: number });
    indent += dash.length;
  }
  const key = found?.[3]?.replace(/^["']|["']$/g, "");
  if (key !== undefined) {
    const holder = pathOf(levels).join("\0");
    taken.set(holder, [...(taken.get(holder) ?? []), key]);
    levels.push({ indent, step: key });
    counts.delete(pathOf(levels).join("\0"));
  }
  return line.slice(found?.[0].length ?? 0);
}

function pathOf(levels: readonly Level[]): (string | number)[] {
  return levels.map(({ step }) => step);
}

/** How many brackets are open, not counting those in strings. */
function depthOf(text: string): number {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, "");
  return (bare.match(/[[{]/g)?.length ?? 0) - (bare.match(/[\]}]/g)?.length ?? 0);
}

/** The place at the end of a text in flow style, `{a: [1, {b: `. */
function inFlow(path: readonly (string | number)[], text: string): TextPlace {
  const steps = [...path];
  const holders: { list: boolean; index: number; key: string | null; taken: string[]; start: number }[] = [];
  let word = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at);
    const top = holders.at(-1);
    if (letter === '"' || letter === "'") {
      const end = text.indexOf(letter, at + 1);
      at = end < 0 ? text.length : end;
    } else if (letter === "[" || letter === "{") {
      if (top !== undefined) steps.push(top.list ? top.index : (top.key ?? ""));
      holders.push({ list: letter === "[", index: 0, key: null, taken: [], start: at + 1 });
      word = at + 1;
    } else if (letter === "]" || letter === "}") {
      holders.pop();
      if (holders.length > 0) steps.pop();
      word = at + 1;
    } else if (letter === "," && top !== undefined) {
      top.index += 1;
      top.key = null;
      word = at + 1;
    } else if (letter === ":" && top?.list === false && top.key === null && /[\s,\]}]|$/.test(text.charAt(at + 1))) {
      top.key = text.slice(word, at).trim();
      top.taken.push(top.key);
      word = at + 1;
    }
  }
  const top = holders.at(-1);
  if (top === undefined) return { path: steps, isKey: false, taken: [], before: text.slice(word) };
  if (top.list) return { path: [...steps, top.index], isKey: false, taken: [], before: text.slice(word) };
  if (top.key === null) return { path: steps, isKey: true, taken: top.taken, before: text.slice(word) };
  return { path: [...steps, top.key], isKey: false, taken: [], before: text.slice(word) };
}
