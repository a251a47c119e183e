/** Decorations of the network: frames of groups behind it, notes in front of it, and guides during a drag. */

import { useReactFlow, ViewportPortal } from "@xyflow/react";
import type { CSSProperties, KeyboardEvent, PointerEvent } from "react";
import { useEffect, useRef, useState } from "react";
import { useUi } from "../app/ui";
import { change } from "../documents/change";
import type { Drawing, DrawnGroup, DrawnNote } from "../documents/drawing";
import { moveNote, setNoteText } from "../documents/edits/decor";
import type { Guides } from "./arrange";
import { deleteSelection } from "./commands";
import { colourClass, frameOf } from "./decor";
import type { CanvasNode } from "./elements";
import { GRID, snap } from "./geometry";

interface DecorProps {
  documentId: string;
  drawing: Drawing;
  nodes: readonly CanvasNode[];
  guides: Guides;
  editingNote: number | null;
  editNote: (index: number | null) => void;
}

/** The same, read-only, as for a run. */
export function StaticDecor({ drawing, nodes }: Pick<DecorProps, "drawing" | "nodes">) {
  return (
    <ViewportPortal>
      {framesOf(drawing, nodes).map(({ group, style }) => (
        <div key={group.index} className={frameClass(group, false)} style={style}>
          <span className="group-name">{nameOf(group)}</span>
        </div>
      ))}
      {drawing.notes.map((note) => (
        <div key={note.index} className={noteClass(note, false)} style={noteStyle(note)}>
          {note.text}
        </div>
      ))}
    </ViewportPortal>
  );
}

/** How far a guide reaches. */
const FAR = 4000;

export function DecorLayer({ documentId, drawing, nodes, guides, editingNote, editNote }: DecorProps) {
  const selection = useUi((state) => state.selection);
  return (
    <ViewportPortal>
      {framesOf(drawing, nodes).map(({ group, style }) => {
        const selected = selection.groups.has(group.index);
        return (
          <div key={group.index} className={frameClass(group, selected)} style={style}>
            <button
              type="button"
              className="group-name nopan nokey"
              aria-label={`Group ${group.name}: ${group.nodes.join(", ")}`}
              aria-pressed={selected}
              onClick={() => {
                useUi.getState().select({ groups: new Set([group.index]) });
                useUi.getState().set({ rightTab: "properties" });
              }}
              onDoubleClick={() => useUi.getState().select({ nodes: new Set(group.nodes) })}
              onKeyDown={(event) => {
                if (event.key !== "Delete" && event.key !== "Backspace") return;
                event.preventDefault();
                useUi.getState().select({ groups: new Set([group.index]) });
                deleteSelection(documentId);
              }}
            >
              {nameOf(group)}
            </button>
          </div>
        );
      })}
      {drawing.notes.map((note) => (
        <Note
          key={note.index}
          documentId={documentId}
          note={note}
          selected={selection.notes.has(note.index)}
          editing={editingNote === note.index}
          edit={(on) => editNote(on ? note.index : null)}
        />
      ))}
      {guides.x !== null && <div className="guide" style={{ left: guides.x, top: -FAR, width: 0, height: 2 * FAR }} />}
      {guides.y !== null && <div className="guide" style={{ left: -FAR, top: guides.y, width: 2 * FAR, height: 0 }} />}
    </ViewportPortal>
  );
}

function framesOf(drawing: Drawing, nodes: readonly CanvasNode[]): { group: DrawnGroup; style: CSSProperties }[] {
  const places = new Map(nodes.map((node) => [node.id, node.position]));
  return drawing.groups.flatMap((group) => {
    const frame = frameOf(group.nodes.flatMap((name) => places.get(name) ?? []));
    if (frame === null) return [];
    const { x, y, width, height } = frame;
    return [{ group, style: { transform: `translate(${x}px, ${y}px)`, width, height } }];
  });
}

function frameClass({ colour }: DrawnGroup, selected: boolean): string {
  return `group-frame${colourClass(colour)}${selected ? " group-selected" : ""}`;
}

function nameOf({ name }: DrawnGroup): string {
  return name || "Group";
}

function noteClass({ colour }: DrawnNote, selected: boolean): string {
  return `note${colourClass(colour)}${selected ? " note-selected" : ""}`;
}

function noteStyle({ x, y }: { x: number; y: number }): CSSProperties {
  return { transform: `translate(${x}px, ${y}px)` };
}

interface NoteProps {
  documentId: string;
  note: DrawnNote;
  selected: boolean;
  editing: boolean;
  edit: (on: boolean) => void;
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function Note({ documentId, note, selected, editing, edit }: NoteProps) {
  const { getZoom } = useReactFlow();
  const grip = useRef<{ x: number; y: number } | null>(null);
  const [shift, setShift] = useState<{ x: number; y: number } | null>(null);
  const select = () => useUi.getState().select({ notes: new Set([note.index]) });
  const moveTo = (at: { x: number; y: number }, joins = false) => change(documentId, (text) => moveNote(text, note, at), { joins });
  const x = note.x + (shift?.x ?? 0);
  const y = note.y + (shift?.y ?? 0);
  const style = noteStyle({ x, y });
  const classes = noteClass(note, selected);
  if (editing) return <NoteInput documentId={documentId} note={note} classes={classes} style={style} done={() => edit(false)} />;

  const onPointerDown = (event: PointerEvent<HTMLDivElement>) => {
    if (event.button !== 0 || useUi.getState().tool !== "select") return;
    event.currentTarget.setPointerCapture(event.pointerId);
    grip.current = { x: event.clientX, y: event.clientY };
    select();
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>) => {
    if (grip.current === null) return;
    const zoom = getZoom();
    setShift({ x: (event.clientX - grip.current.x) / zoom, y: (event.clientY - grip.current.y) / zoom });
  };
  const onPointerUp = () => {
    grip.current = null;
    if (shift !== null && Math.abs(shift.x) + Math.abs(shift.y) > 2) moveTo(snap({ x, y }));
    setShift(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const arrow = ARROWS[event.key];
    if (event.key === "Enter" || event.key === "F2") edit(true);
    else if (arrow !== undefined) moveTo({ x: note.x + arrow[0] * GRID, y: note.y + arrow[1] * GRID }, true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className={`${classes} nopan nokey`}
      style={style}
      role="button"
      tabIndex={0}
      data-note={note.index}
      aria-pressed={selected}
      aria-label={`Note: ${note.text}`}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={onPointerUp}
      onPointerCancel={onPointerUp}
      onDoubleClick={() => edit(true)}
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && select()}
      onKeyDown={onKeyDown}
    >
      {note.text}
    </div>
  );
}

function NoteInput({ documentId, note, classes, style, done }: Pick<NoteProps, "documentId" | "note"> & { classes: string; style: object; done: () => void }) {
  const input = useRef<HTMLTextAreaElement>(null);
  const [words, setWords] = useState(note.text);
  useEffect(() => {
    const timer = setTimeout(() => input.current?.select(), 0);
    return () => clearTimeout(timer);
  }, []);
  const finish = () => {
    const text = words.trim();
    if (text === "") {
      useUi.getState().select({ notes: new Set([note.index]) });
      deleteSelection(documentId);
    } else if (text !== note.text) {
      change(documentId, (now) => setNoteText(now, note, text));
    }
    done();
  };
  return (
    <textarea
      ref={input}
      className={`${classes} note-input nopan nokey nowheel`}
      style={style}
      aria-label="Text of the note"
      title="Escape or a click elsewhere finishes; an empty note is deleted"
      rows={Math.max(1, words.split("\n").length)}
      cols={Math.min(40, Math.max(12, ...words.split("\n").map((line) => line.length + 2)))}
      value={words}
      onChange={(event) => setWords(event.target.value)}
      onBlur={finish}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) event.currentTarget.blur();
      }}
    />
  );
}
