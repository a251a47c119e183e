/** The text of a packetdrill script, with its problems and the events that failed marked in it. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { StreamLanguage } from "@codemirror/language";
import type { StringStream } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Problem } from "../api/types";
import { look } from "../editor/look";
import { marksOf } from "../editor/marks";
import { leastChange } from "../editor/sync";
import { usePacketdrill } from "./store";

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

interface ScriptEditorProps {
  path: string;
  text: string;
  problems: readonly Problem[];
  warnings: readonly Problem[];
  /** A line to go to; the number makes each request distinct. */
  goTo: { line: number; request: number } | null;
}

export function ScriptEditor({ path, text, problems, warnings, goTo }: ScriptEditorProps) {
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const start = useRef(text);
  start.current = text;

  useEffect(() => {
    if (holder.current === null) return undefined;
    const editor = new EditorView({ parent: holder.current, state: EditorState.create({ doc: start.current, extensions: extensionsFor(path) }) });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [path]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const changes = leastChange(editor.state.doc.toString(), text.replaceAll("\r\n", "\n"));
    if (changes !== null) editor.dispatch({ changes });
  }, [path, text]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    editor.dispatch(setDiagnostics(editor.state, [...marksOf(problems, doc), ...marksOf(warnings, doc, "warning")]));
  }, [path, problems, warnings]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null || goTo === null) return;
    const anchor = editor.state.doc.line(Math.max(1, Math.min(goTo.line, editor.state.doc.lines))).from;
    editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
    editor.focus();
  }, [goTo]);

  return <div ref={holder} className="script-editor" />;
}

function extensionsFor(path: string) {
  const { setText, run, save } = usePacketdrill.getState();
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    drawSelection(),
    packetdrill,
    look,
    EditorView.contentAttributes.of({ "aria-label": `${path}. Press Escape, then Tab to leave the editor.` }),
    keymap.of([
      { key: "Mod-Enter", run: () => (void run(), true), preventDefault: true },
      { key: "Mod-s", run: () => (void save(), true), preventDefault: true },
      ...historyKeymap,
      ...searchKeymap,
      ...defaultKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) setText(update.state.doc.toString());
    }),
  ];
}
