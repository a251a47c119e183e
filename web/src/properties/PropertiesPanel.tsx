/** What is selected on the canvas, with all that can be set of it. */

import { useUi } from "../app/ui";
import { deleteSelection, duplicate } from "../canvas/commands";
import type { StudyDocument } from "../documents/model";
import { drawingOf } from "../documents/useDrawing";
import { FlowProperties } from "./FlowProperties";
import { LinkProperties } from "./LinkProperties";
import { NodeProperties } from "./NodeProperties";
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
  if (nodes.length + links.length + flows.length > 1) {
    const parts = [
      [nodes.length, "node"],
      [links.length, "link"],
      [flows.length, "flow"],
    ] as const;
    return (
      <div className="properties">
        <header className="panel-title">
          <h2>
            {parts
              .filter(([count]) => count > 0)
              .map(([count, what]) => `${count} ${what}${count === 1 ? "" : "s"}`)
              .join(", ")}
          </h2>
        </header>
        <div className="button-row">
          {nodes.length > 0 && (
            <button type="button" onClick={() => duplicate(document.id)}>
              Duplicate
            </button>
          )}
          <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
            Delete
          </button>
        </div>
        <p className="facts">Properties are shown for one thing at a time.</p>
      </div>
    );
  }
  const key = node?.name ?? (link !== undefined ? `link-${link.index}` : (flow?.name ?? ""));
  return (
    <div className="properties" key={`${document.id}-${key}`}>
      {node !== undefined ? (
        <NodeProperties document={document} drawing={drawing} node={node} />
      ) : link !== undefined ? (
        <LinkProperties document={document} drawing={drawing} link={link} />
      ) : flow !== undefined ? (
        <FlowProperties document={document} drawing={drawing} flow={flow} />
      ) : (
        <StudyProperties document={document} drawing={drawing} />
      )}
    </div>
  );
}
