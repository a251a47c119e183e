/** The properties of the selection on the canvas. */

import { useUi } from "../app/ui";
import type { StudyDocument } from "../documents/model";
import { drawingOf } from "../documents/useDrawing";
import { GroupProperties, NoteProperties } from "./DecorProperties";
import { FlowProperties } from "./FlowProperties";
import { LinkProperties } from "./LinkProperties";
import { NodeProperties } from "./NodeProperties";
import { SelectionProperties } from "./SelectionProperties";
import { StudyProperties } from "./StudyProperties";

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
