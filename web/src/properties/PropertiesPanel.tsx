/** The properties of the selection on the canvas. */

import { useUi } from "../app/ui";
import { deleteSelection } from "../canvas/commands";
import { change } from "../documents/change";
import type { Drawing, DrawnGroup, DrawnNote } from "../documents/drawing";
import { setGroupColour, setGroupName, setGroupNodes, setNoteColour, setNoteText } from "../documents/edits/decor";
import type { StudyDocument } from "../documents/model";
import { drawingOf } from "../documents/useDrawing";
import { ColourChoice } from "./ColourChoice";
import { Check, Field } from "./Field";
import { FlowProperties } from "./FlowProperties";
import { LinkProperties } from "./LinkProperties";
import { NodeProperties } from "./NodeProperties";
import { SelectionProperties } from "./SelectionProperties";
import { StudyProperties } from "./StudyProperties";

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

export function PropertiesPanel({ document }: { document: StudyDocument }) {
  const selection = useUi((state) => state.selection);
  const drawing = drawingOf(document);
  const nodes = drawing.nodes.filter((node) => selection.nodes.has(node.name));
  const links = drawing.links.filter((link) => selection.links.has(link.index));
  const flows = drawing.flows.filter((flow) => selection.flows.has(flow.name));
  const [node] = nodes;
  const [link] = links;
  const [flow] = flows;
  const notes = drawing.notes.filter((one) => selection.notes.has(one.index));
  const groups = drawing.groups.filter((one) => selection.groups.has(one.index));
  const [note] = notes;
  const [group] = groups;
  const parts = [
    [nodes.length, "node"],
    [links.length, "link"],
    [flows.length, "flow"],
    [notes.length, "note"],
    [groups.length, "group"],
  ] as const;
  if (parts.reduce((sum, [count]) => sum + count, 0) > 1) {
    const counted = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}${count === 1 ? "" : "s"}`);
    return <SelectionProperties document={document} drawing={drawing} nodes={nodes} links={links} title={counted.join(", ")} />;
  }
  const key = node?.name ?? (link !== undefined ? `link-${link.index}` : (flow?.name ?? (note !== undefined ? `note-${note.index}` : `group-${group?.index ?? ""}`)));
  return (
    <div className="properties" key={`${document.id}-${key}`}>
      {node !== undefined ? (
        <NodeProperties document={document} drawing={drawing} node={node} />
      ) : link !== undefined ? (
        <LinkProperties document={document} drawing={drawing} link={link} />
      ) : flow !== undefined ? (
        <FlowProperties document={document} drawing={drawing} flow={flow} />
      ) : note !== undefined ? (
        <NoteProperties document={document} note={note} />
      ) : group !== undefined ? (
        <GroupProperties document={document} drawing={drawing} group={group} />
      ) : (
        <StudyProperties document={document} drawing={drawing} />
      )}
    </div>
  );
}
