/** The text of a packetdrill script, with its problems and the events that failed marked in it. */

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";

import type { Problem } from "../api/types";
import { look } from "../editor/look";
import { marksOf } from "../editor/marks";
import { leastChange } from "../editor/sync";
import { packetdrill } from "./language";
import { usePacketdrill } from "./store";

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
