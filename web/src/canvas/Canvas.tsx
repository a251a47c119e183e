/**
 * The canvas: the drawing of a document, with the tools that change it.
 *
 * React Flow draws and moves; what a node or link *is* comes from the text, and
 * every change goes there first and comes back as a new drawing. Only the state
 * of a drag is kept here until it ends.
 */

import { Background, BackgroundVariant, ReactFlow, ReactFlowProvider, SelectionMode, useReactFlow, useStoreApi } from "@xyflow/react";
import type { DragEvent, MouseEvent } from "react";
import type { Recording } from "../api/types";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useFields } from "../app/server";
import { NOTHING, useUi, type Tool } from "../app/ui";
import { withAssigned } from "../documents/assigned";
import type { NodeKind } from "../documents/drawing";
import type { StudyDocument } from "../documents/model";
import { drawingOf } from "../documents/useDrawing";
import { problemsAt } from "../properties/problems";
import { styleIndicesOf, type StyleIndex } from "../charts/lineStyles";
import { useActivity } from "../live/activity";
import { shownOf, useLive } from "../live/store";
import { MomentCard } from "../timeline/MomentCard";
import { ActivityFeed } from "./activityFeed";
import { NO_GUIDES } from "./arrange";
import { connect, drawFlow, placeNode, placeNote, rename } from "./commands";
import { CanvasBar, EmptyCanvas, ToolHint, LinkPreview } from "./CanvasOverlays";
import { CanvasState } from "./context";
import type { OpenMenu } from "./ContextMenu";
import { ContextMenu, terminalAt } from "./ContextMenu";
import { DecorLayer } from "./DecorLayer";
import type { CanvasEdge, CanvasNode } from "./elements";
import { makeEdges, makeNodes } from "./elements";
import { FlowArrows, FlowEdge } from "./FlowEdge";
import type { Point } from "./geometry";
import { GRID } from "./geometry";
import { focusNode, nodeAt } from "./keys";
import { LabelLayer } from "./LabelLayer";
import { LinkEdge } from "./LinkEdge";
import { NodeView } from "./NodeView";
import { DRAGGED } from "./Palette";
import { placesOf } from "./places";
import { topologyPicture } from "./topologyPicture";
import { useCanvasChanges, useLinkEnd } from "./useCanvasChanges";
import { useCanvasKeys } from "./useCanvasKeys";
import { useFit } from "./useFit";

const NODE_TYPES = { node: NodeView };
const EDGE_TYPES = { link: LinkEdge, flow: FlowEdge };
const MIDDLE = [1];
const MIDDLE_AND_RIGHT = [1, 2];
/** Touch has no second button: there a drag moves the canvas. */
const HAS_MOUSE = typeof matchMedia !== "function" || matchMedia("(pointer: fine)").matches;
/** With more links the dashes are not animated: that would take the whole time of each frame. */
const MAX_MOVING = 80;
const NO_RECORDINGS: readonly Recording[] = [];

export function Canvas({ document }: { document: StudyDocument }) {
  return (
    <ReactFlowProvider key={document.id}>
      <CanvasFrame document={document} />
    </ReactFlowProvider>
  );
}

function CanvasFrame({ document }: { document: StudyDocument }) {
  const { id } = document;
  const flow = useReactFlow();
  const flowStore = useStoreApi();
  const frame = useRef<HTMLDivElement>(null);
  const [feed] = useState(() => new ActivityFeed());
  const flowStyles = useFlowStyles(shownOf(document));
  const drawing = drawingOf(document);
  const network = document.lastGood?.network ?? null;
  const labelled = useMemo(() => withAssigned(drawing, network), [drawing, network]);
  const tool = useUi((state) => state.tool);
  const selection = useUi((state) => state.selection);
  const showsAddresses = useUi((state) => state.showsAddresses);
  const [firstEnd, setFirstEnd] = useState<{ tool: Tool; name: string } | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const [editingNote, editNote] = useState<number | null>(null);
  const [guides, setGuides] = useState(NO_GUIDES);
  const { held, holdEnd } = useLinkEnd(id);
  const fields = useFields().direction;
  const problems = useMemo(() => problemsAt(document.check, drawing), [document.check, drawing]);
  const [nodes, setNodes] = useState<CanvasNode[]>(() => makeNodes(labelled, placesOf(id, drawing), selection, problems.nodes, []));
  const [edges, setEdges] = useState<CanvasEdge[]>(() => makeEdges(labelled, placesOf(id, drawing), selection, problems.links, [], fields));
  const dragging = useRef(false);

  useEffect(() => {
    if (dragging.current) return;
    const places = placesOf(id, drawing);
    setNodes((before) => makeNodes(labelled, places, selection, problems.nodes, before));
    setEdges((before) => makeEdges(labelled, places, selection, problems.links, before, fields));
  }, [id, drawing, labelled, selection, problems, fields]);

  const fit = useFit({ frame, drawing, nodes, edges, showsAddresses });
  // An end belongs to the tool that it was chosen with; choosing another tool resets it.
  if (firstEnd !== null && firstEnd.tool !== tool) setFirstEnd(null);
  const pending = firstEnd?.tool === tool ? firstEnd.name : null;
  const setPending = useCallback((name: string | null) => setFirstEnd(name === null ? null : { tool: useUi.getState().tool, name }), []);
  /** Whether the pointer was last pressed with the link or flow tool: the click that ends such a press selects no node. */
  const connects = useRef(false);
  /** What an area that is being selected adds to. */
  const kept = useRef(NOTHING);

  /** A node was chosen with the link or flow tool: the first end, or the second. */
  const choose = useCallback(
    (name: string) => {
      const isLink = useUi.getState().tool === "link";
      if (pending === null) {
        setPending(name);
        return;
      }
      setPending(null);
      const done = isLink ? connect(id, pending, name) : drawFlow(id, pending, name);
      if (done && !isLink) useUi.getState().set({ tool: "select" });
    },
    [id, pending, setPending],
  );

  const begin = useCallback((next: "link" | "flow", name: string) => {
    useUi.getState().set({ tool: next });
    setPending(name);
    focusNode(name);
  }, [setPending]);

  const writeNote = useCallback(
    (at: Point) => {
      useUi.getState().set({ tool: "select" });
      editNote(placeNote(id, at));
    },
    [id],
  );

  /** By keyboard: in the middle of the visible area. */
  const placeInMiddle = useCallback(
    (kind: NodeKind | "note") => {
      const box = frame.current?.getBoundingClientRect();
      if (box === undefined) return;
      const middle = flow.screenToFlowPosition({ x: box.left + box.width / 2, y: box.top + box.height / 2 });
      if (kind === "note") {
        writeNote(middle);
        return;
      }
      const name = placeNode(id, kind, middle);
      if (name !== null) focusNode(name);
    },
    [flow, id, writeNote],
  );

  const finishName = useCallback(
    (from: string, to: string | null) => {
      if (to !== null && to !== from && !rename(id, from, to)) return false;
      setEditing(null);
      focusNode(to ?? from);
      return true;
    },
    [id],
  );

  useCanvasKeys({ id, frame, pending, setPending, setEditing, choose, begin, placeInMiddle, fit });

  const { onNodesChange, onEdgesChange, onDragStart, onDragStop } = useCanvasChanges({ id, drawing, dragging, connects, kept, setNodes, setGuides });

  const connecting = tool === "link" || tool === "flow";
  const selecting = tool === "select" && HAS_MOUSE;
  const placing = tool === "host" || tool === "switch" || tool === "router";
  const openMenu = (event: MouseEvent | globalThis.MouseEvent, target: OpenMenu["target"]) => {
    event.preventDefault();
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return;
    const left = Math.min(event.clientX - box.left, box.width - 240);
    const top = Math.max(0, Math.min(event.clientY - box.top, box.height - 300));
    setMenu({ target, left, top });
  };

  const context = useMemo(
    () => ({ feed, flowStyles, showsAddresses, editing, pending, finishName, holdEnd }),
    [feed, flowStyles, showsAddresses, editing, pending, finishName, holdEnd],
  );

  return (
    <CanvasState.Provider value={context}>
      <Activity sessionId={shownOf(document)} feed={feed} />
      <div
        ref={frame}
          tabIndex={-1}
          className={`canvas canvas-${tool}${drawing.links.length > MAX_MOVING ? " canvas-large" : ""}`}
        onPointerDownCapture={(event) => {
          connects.current = connecting;
          const adds = event.shiftKey || event.ctrlKey || event.metaKey;
          flowStore.setState({ multiSelectionActive: adds });
          const startsArea = event.target instanceof Element && event.target.classList.contains("react-flow__pane");
          kept.current = adds && startsArea ? useUi.getState().selection : NOTHING;
        }}
        onPointerDown={(event) => {
          const name = connecting && event.button === 0 ? nodeAt(event.clientX, event.clientY) : null;
          if (name !== null && pending === null) setPending(name);
          else if (connecting && name === null && event.target instanceof Element && event.target.closest(".canvas-bar") === null) setPending(null);
        }}
        onPointerUp={(event) => {
          if (!connecting || pending === null) return;
          const name = nodeAt(event.clientX, event.clientY);
          if (name !== null && name !== pending) choose(name);
        }}
        onDragOver={(event) => {
          if (event.dataTransfer.types.includes(DRAGGED)) event.preventDefault();
        }}
        onDrop={(event: DragEvent) => {
          const kind = event.dataTransfer.getData(DRAGGED);
          if (kind !== "host" && kind !== "switch" && kind !== "router") return;
          event.preventDefault();
          placeNode(id, kind, flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }));
        }}
      >
        <FlowArrows />
        <ReactFlow<CanvasNode, CanvasEdge>
          aria-label="Network"
          nodes={nodes}
          edges={edges}
          nodeTypes={NODE_TYPES}
          edgeTypes={EDGE_TYPES}
          nodeOrigin={[0.5, 0.5]}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          onNodeDragStart={onDragStart}
          onNodeDragStop={onDragStop}
          onSelectionDragStart={onDragStart}
          onSelectionDragStop={(event, moved) => onDragStop(event, null, moved)}
          onNodeDoubleClick={(_, node) => terminalAt(id, node.id)}
          onNodeContextMenu={(event, node) => {
            const { nodes: selected } = useUi.getState().selection;
            if (!selected.has(node.id)) useUi.getState().select({ nodes: new Set([node.id]) });
            openMenu(event, selected.has(node.id) && selected.size > 1 ? { kind: "selection" } : { kind: "node", name: node.id });
          }}
          onEdgeContextMenu={(event, edge) => {
            if (edge.type === "link" && edge.data !== undefined) {
              useUi.getState().select({ links: new Set([edge.data.link.index]) });
              openMenu(event, { kind: "link", index: edge.data.link.index });
            } else if (edge.type === "flow" && edge.data !== undefined) {
              useUi.getState().select({ flows: new Set([edge.data.flow.name]) });
              openMenu(event, { kind: "flow", name: edge.data.flow.name });
            }
          }}
          onSelectionContextMenu={(event) => openMenu(event, { kind: "selection" })}
          onPaneContextMenu={(event) => {
            openMenu(event, { kind: "pane", at: flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }) });
          }}
          onPaneClick={(event) => {
            const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
            if (tool === "note") writeNote(at);
            else if (placing) placeNode(id, tool, at);
            else useUi.getState().select({});
          }}
          nodesDraggable={!connecting}
          // A drag from node to node draws a link, and one with a mouse over the canvas selects an
          // area; the middle and the right button, and a finger, move the canvas.
          panOnDrag={connecting ? MIDDLE : selecting ? MIDDLE_AND_RIGHT : true}
          selectionOnDrag={selecting}
          nodesConnectable={false}
          nodesFocusable
          edgesFocusable
          disableKeyboardA11y
          elementsSelectable
          selectionMode={SelectionMode.Partial}
          // The press itself determines whether it adds to the selection. React Flow would follow the keys, and
          // with Shift it makes a press on a link whose pointer moves at all the start of an area.
          multiSelectionKeyCode={null}
          selectionKeyCode={null}
          deleteKeyCode={null}
          panActivationKeyCode={null}
          zoomOnDoubleClick={false}
          minZoom={0.05}
          maxZoom={3}
          elevateEdgesOnSelect={false}
          // An empty canvas stays where it is: the first node must appear under the pointer.
          onInit={() => fit(0)}
          proOptions={{ hideAttribution: true }}
        >
          <Background variant={BackgroundVariant.Dots} gap={2 * GRID} size={1} className="canvas-dots" />
          <DecorLayer documentId={id} drawing={drawing} nodes={nodes} guides={guides} editingNote={editingNote} editNote={editNote} />
          <LabelLayer nodes={nodes} edges={edges} />
          {held !== null && <LinkPreview from={held.fixed} frame={frame} />}
          {connecting && pending !== null && <LinkPreview from={pending} frame={frame} />}
        </ReactFlow>
        {drawing.nodes.length === 0 && <EmptyCanvas />}
        <ToolHint tool={tool} pending={pending} />
        <MomentCard sessionId={shownOf(document)} place="canvas" />
        <CanvasBar documentId={id} fit={() => fit()} picture={() => topologyPicture(drawing, nodes, edges, showsAddresses)} />
        {menu !== null && (
          <ContextMenu documentId={id} menu={menu} close={() => setMenu(null)} rename={setEditing} begin={begin} fit={() => fit()} note={writeNote} />
        )}
      </div>
    </CanvasState.Provider>
  );
}

/**
 * Looks by the flow's name; the same object as long as none of them changes. Subscribes to the
 * session by itself, so that its events do not re-render the whole canvas.
 */
function useFlowStyles(sessionId: string | null): ReadonlyMap<string, StyleIndex> {
  const recordings = useLive((state) => (sessionId === null ? undefined : state.sessions[sessionId]?.recordings)) ?? NO_RECORDINGS;
  const known = useMemo(() => {
    const styleIndices = styleIndicesOf(recordings);
    const names = new Set(recordings.flatMap(({ flows }) => flows.map(({ name }) => name)));
    return JSON.stringify([...names].map((name) => [name, styleIndices.flow(name)]));
  }, [recordings]);
  return useMemo(() => new Map(JSON.parse(known) as [string, StyleIndex][]), [known]);
}

function Activity({ sessionId, feed }: { sessionId: string | null; feed: ActivityFeed }) {
  const activity = useActivity(sessionId);
  useEffect(() => feed.publish(activity), [activity, feed]);
  return null;
}
