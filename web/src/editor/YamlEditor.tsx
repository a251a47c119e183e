/**
 * The study's text, beside the canvas. What is typed here is drawn at once; changes on
 * the canvas appear here, and the cursor stays in its place.
 */

import { autocompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { drawingOf } from "../documents/useDrawing";
import { completionsFrom } from "./completion";
import { look } from "./look";
import { marksOf } from "./marks";
import { leastChange } from "./sync";

/** Marks changes that come from the document and must not be sent back. */
const fromDocument = Annotation.define<boolean>();

export function YamlEditor({ document }: { document: StudyDocument }) {
  const { id, text, check } = document;
  const holder = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const selection = useUi((state) => state.selection);
  const goTo = useUi((state) => state.goTo);
  const gone = useRef(0);
  const start = useRef(text);
  start.current = text;

  useEffect(() => {
    if (holder.current === null) return undefined;
    const editor = new EditorView({ parent: holder.current, state: EditorState.create({ doc: start.current, extensions: extensionsFor(id) }) });
    view.current = editor;
    return () => {
      editor.destroy();
      view.current = null;
    };
  }, [id]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const changes = leastChange(editor.state.doc.toString(), text);
    if (changes !== null) editor.dispatch({ changes, annotations: fromDocument.of(true) });
  }, [id, text]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    const marks = [...marksOf(check?.problems ?? [], doc), ...marksOf(check?.warnings ?? [], doc, "warning")];
    editor.dispatch(setDiagnostics(editor.state, marks));
    // Between checks the marks move with the text.
  }, [id, check]);

  useEffect(() => {
    // Not while typing here: only a selection on the canvas scrolls the text.
    if (view.current === null || view.current.hasFocus) return;
    const current = documentOf(id);
    if (current === null) return;
    const drawing = drawingOf(current);
    const [node] = selection.nodes;
    const [link] = selection.links;
    const [flow] = selection.flows;
    const line =
      drawing.nodes.find((one) => one.name === node)?.line ??
      drawing.links.find((one) => one.index === link)?.line ??
      drawing.flows.find((one) => one.name === flow)?.line;
    if (line !== undefined) goToPlace(view.current, line, 1);
    // Only a new selection scrolls, not each change of the text.
  }, [id, selection]);

  useEffect(() => {
    if (view.current === null || goTo === null || goTo.number === gone.current) return;
    gone.current = goTo.number;
    goToPlace(view.current, goTo.line, goTo.column);
    if (goTo.focus) view.current.focus();
  }, [goTo]);

  return <div ref={holder} className="yaml-editor" />;
}

function goToPlace(editor: EditorView, line: number, column: number): void {
  const at = editor.state.doc.line(Math.max(1, Math.min(line, editor.state.doc.lines)));
  const anchor = Math.min(at.from + column - 1, at.to);
  editor.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
}

function extensionsFor(id: string) {
  const { setText, undo, redo } = useDocuments.getState();
  return [
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    highlightSelectionMatches(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    indentUnit.of("  "),
    yaml(),
    look,
    autocompletion({ override: [completionsFrom], icons: false, maxRenderedOptions: 60 }),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": "The study as YAML. Press Escape, then Tab to leave the editor." }),
    // Undo is the document's: steps on the canvas and here share one history.
    keymap.of([
      { key: "Mod-z", run: () => (undo(id), true), preventDefault: true },
      { key: "Mod-y", run: () => (redo(id), true), preventDefault: true },
      { key: "Mod-Shift-z", run: () => (redo(id), true), preventDefault: true },
      ...completionKeymap,
      ...searchKeymap,
      ...defaultKeymap,
      indentWithTab,
    ]),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged || update.transactions.some((one) => one.annotation(fromDocument))) return;
      setText(id, update.state.doc.toString(), { joins: true });
    }),
  ];
}
