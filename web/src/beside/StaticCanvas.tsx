/** The network of a run, read-only, with the rates of its links at a moment. */

import { Background, BackgroundVariant, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useFields } from "../app/server";
import { NOTHING } from "../app/ui";
import { StaticDecor } from "../canvas/DecorLayer";
import { FlowArrows, FlowEdge } from "../canvas/FlowEdge";
import { LabelLayer } from "../canvas/LabelLayer";
import { LinkEdge } from "../canvas/LinkEdge";
import { NodeView } from "../canvas/NodeView";
import { ActivityFeed } from "../canvas/activityFeed";
import { CanvasState } from "../canvas/context";
import { makeEdges, makeNodes } from "../canvas/elements";
import { GRID } from "../canvas/geometry";
import { placesOf } from "../canvas/places";
import { useFit } from "../canvas/useFit";
import { styleIndicesOf } from "../charts/lineStyles";
import { readDrawing } from "../documents/drawing";
import { useActivity } from "../live/activity";
import type { SessionView } from "../live/view";

const NODE_TYPES = { node: NodeView };
const EDGE_TYPES = { link: LinkEdge, flow: FlowEdge };
const NONE = new Set<never>();

interface StaticCanvasProps {
  session: SessionView;
  /** The run's study. */
  text: string;
  label: string;
}

export function StaticCanvas(props: StaticCanvasProps) {
  return (
    <ReactFlowProvider>
      <Frame {...props} />
    </ReactFlowProvider>
  );
}

function Frame({ session, text, label }: StaticCanvasProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [feed] = useState(() => new ActivityFeed());
  const activity = useActivity(session.id);
  useEffect(() => feed.publish(activity), [activity, feed]);
  const fields = useFields().direction;
  const { drawing, nodes, edges } = useMemo(() => {
    // A run's study has its one case, with that case's own network and flows.
    const first = readDrawing(text);
    const drawing = first.cases[0] === undefined ? first : readDrawing(text, first.cases[0].name);
    const places = placesOf(session.id, drawing);
    return { drawing, nodes: makeNodes(drawing, places, NOTHING, NONE, []), edges: makeEdges(drawing, places, NOTHING, NONE, [], fields) };
  }, [text, session.id, fields]);
  const fit = useFit({ frame, drawing, nodes, edges, showsAddresses: false });
  const context = useMemo(() => {
    const styleIndices = styleIndicesOf(session.recordings);
    const names = session.recordings.flatMap(({ flows }) => flows.map(({ name }) => name));
    const flowStyles = new Map(names.map((name) => [name, styleIndices.flow(name)]));
    return { feed, flowStyles, showsAddresses: false, editing: null, pending: null, finishName: () => true, holdEnd: () => undefined };
  }, [feed, session.recordings]);
  return (
    <CanvasState.Provider value={context}>
      <div ref={frame} className="canvas canvas-select beside-canvas">
        <FlowArrows />
        <ReactFlow
          aria-label={label}
          defaultNodes={nodes}
          defaultEdges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          nodeOrigin={[0.5, 0.5]}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          zoomOnDoubleClick={false}
          // The wheel scrolls the page.
          zoomOnScroll={false}
          preventScrolling={false}
          minZoom={0.05}
          maxZoom={3}
          onInit={() => fit(0)}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={2 * GRID} size={1} className="canvas-dots" />
          <StaticDecor drawing={drawing} nodes={nodes} />
          <LabelLayer nodes={nodes} edges={edges} />
        </ReactFlow>
      </div>
    </CanvasState.Provider>
  );
}
