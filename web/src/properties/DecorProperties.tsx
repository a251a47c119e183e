/** A note, or a group of nodes. */

import { useUi } from "../app/ui";
import { deleteSelection } from "../canvas/commands";
import { change } from "../documents/change";
import type { Drawing, DrawnGroup, DrawnNote } from "../documents/drawing";
import { setGroupColour, setGroupName, setGroupNodes, setNoteColour, setNoteText } from "../documents/edits/decor";
import type { StudyDocument } from "../documents/model";
import { ColourChoice } from "./ColourChoice";
import { Check, Field } from "./Field";

export function NoteProperties({ document, note }: { document: StudyDocument; note: DrawnNote }) {
  return (
    <>
      <header className="panel-title">
        <h2>Note</h2>
      </header>
      <div className="button-row">
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete
        </button>
      </div>
      <section className="group" aria-label="Note">
        <div className="fields">
          <Field
            label="Text"
            wide
            value={note.text}
            {...(note.text.includes("\n") ? { hint: "Several lines: double-click the note on the canvas.", disabled: true } : {})}
            commit={(typed) => typed !== "" && change(document.id, (text) => setNoteText(text, note, typed), { joins: true })}
          />
        </div>
      </section>
      <section className="group" aria-label="Colour of the note">
        <h3>Colour</h3>
        <ColourChoice value={note.colour} commit={(colour) => change(document.id, (text) => setNoteColour(text, note, colour))} />
      </section>
    </>
  );
}

export function GroupProperties({ document, drawing, group }: { document: StudyDocument; drawing: Drawing; group: DrawnGroup }) {
  const names = drawing.nodes.map(({ name }) => name);
  return (
    <>
      <header className="panel-title">
        <h2>{group.name.startsWith("Group") ? group.name : `Group ${group.name}`}</h2>
      </header>
      <div className="button-row">
        <button type="button" onClick={() => useUi.getState().select({ nodes: new Set(group.nodes) })}>
          Select its nodes
        </button>
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete the group
        </button>
      </div>
      <section className="group" aria-label="Group">
        <div className="fields">
          <Field label="Name" wide value={group.name} commit={(typed) => change(document.id, (text) => setGroupName(text, group, typed), { joins: true })} />
        </div>
      </section>
      <section className="group" aria-label="Colour of the group">
        <h3>Colour</h3>
        <ColourChoice value={group.colour} commit={(colour) => change(document.id, (text) => setGroupColour(text, group, colour))} />
      </section>
      <section className="group" aria-label="Nodes in the group">
        <h3>Nodes</h3>
        <div className="group-nodes">
          {names.map((name) => (
            <Check
              key={name}
              label={name}
              value={group.nodes.includes(name)}
              commit={(on) =>
                change(document.id, (text) => setGroupNodes(text, group, on ? [...group.nodes, name] : group.nodes.filter((other) => other !== name)))
              }
            />
          ))}
        </div>
      </section>
    </>
  );
}
