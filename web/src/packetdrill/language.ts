/** Syntax highlighting of packetdrill scripts. */

import { StreamLanguage, type StringStream } from "@codemirror/language";

interface State {
  /** What spans lines: a comment, a piece of Python, or commands. */
  inside: "comment" | "python" | "command" | null;
}

const ENDS = { comment: "*/", python: "}%", command: "`" } as const;
const COLOURS = { comment: "comment", python: "labelName", command: "string" } as const;

function upTo(stream: StringStream, state: State): string {
  const inside = state.inside ?? "comment";
  const end = ENDS[inside];
  while (!stream.eol()) {
    if (stream.match(end)) {
      state.inside = null;
      break;
    }
    stream.next();
  }
  return COLOURS[inside];
}

function token(stream: StringStream, state: State): string | null {
  if (state.inside !== null) return upTo(stream, state);
  const starts = stream.sol() || stream.string.slice(0, stream.pos).trim() === "";
  if (stream.eatSpace()) return null;
  if (stream.match("//")) {
    stream.skipToEnd();
    return "lineComment";
  }
  for (const [mark, inside] of [["/*", "comment"], ["%{", "python"], ["`", "command"]] as const) {
    if (stream.match(mark)) {
      state.inside = inside;
      return upTo(stream, state);
    }
  }
  if (starts && stream.match(/--\w+(=\S*)?/)) return "propertyName";
  if (starts && stream.match(/(\+?\d*\.?\d+|\*)([~.]+\+?\d*\.?\d+)?/)) return "propertyName";
  if (stream.match(/"(?:[^"\\]|\\.)*"/)) return "string";
  if (stream.match(/[<>](?=\s)/)) return "keyword";
  if (stream.match(/[A-Za-z_]\w*(?=\()/)) return "keyword";
  if (stream.match(/\w+/)) return null;
  stream.next();
  return null;
}

export const packetdrill = StreamLanguage.define<State>({
  name: "packetdrill",
  startState: () => ({ inside: null }),
  token,
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } } },
});
