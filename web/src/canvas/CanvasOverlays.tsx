/** Zoom, layout and display options, at the canvas's lower edge. */

import { ViewportPortal, useInternalNode, useReactFlow, useViewport } from "@xyflow/react";
import { useEffect, useState } from "react";
import type { RefObject } from "react";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import { useDialogs } from "../files/dialogs";
import { layOut } from "./commands";
import { HALF, straight } from "./geometry";
import type { Point } from "./geometry";
import { TOOLS } from "./tools";
import { savePng, saveSvg } from "./topologyPicture";

export function CanvasBar({ documentId, fit, picture }: { documentId: string; fit: () => void; picture: () => string }) {
  const { zoomIn, zoomOut } = useReactFlow();
  const { zoom } = useViewport();
  const shows = useUi((state) => state.showsAddresses);
  const name = documentOf(documentId)?.name ?? "network";
  const set = useUi((state) => state.set);
  return (
    <div className="canvas-bar" role="toolbar" aria-label="View">
      <button type="button" aria-label="Zoom out" title="Zoom out (-)" onClick={() => void zoomOut()}>
        −
      </button>
      <output aria-label="Zoom">{Math.round(zoom * 100)} %</output>
      <button type="button" aria-label="Zoom in" title="Zoom in (+)" onClick={() => void zoomIn()}>
        +
      </button>
      <button type="button" title="Show everything (0)" onClick={fit}>
        Fit
      </button>
      <button type="button" title="Lay out automatically (A)" onClick={() => layOut(documentId)}>
        Lay out
      </button>
      <button
        type="button"
        aria-pressed={shows}
        title="Show the names and addresses of interfaces (I)"
        onClick={() => set({ showsAddresses: !shows })}
      >
        <span className="wide-only">Interfaces and addresses</span>
        <span className="narrow-only">Addresses</span>
      </button>
      <button type="button" title="Save the drawing as an SVG file" aria-label="Drawing as SVG" onClick={() => saveSvg(name, picture())}>
        SVG
      </button>
      <button type="button" title="Save the drawing as a PNG file" aria-label="Drawing as PNG" onClick={() => void savePng(name, picture())}>
        PNG
      </button>
    </div>
  );
}

const STEPS = [
  { key: "H", text: "Place hosts and switches: choose Host or Switch at the left, then click here." },
  { key: "L", text: "Link them: choose Link, then click one node and another. Click a link to set its rate, delay and loss." },
  { key: "F", text: "Draw a flow: choose Flow, then click the sender and the receiver." },
  { key: "▶", text: "Press Run, and watch. Double-click a node for a terminal; Space holds the clock." },
];

export function EmptyCanvas() {
  return (
    <div className="canvas-empty">
      <h2>Draw a network</h2>
      <ol>
        {STEPS.map(({ key, text }) => (
          <li key={key}>
            <kbd>{key}</kbd> <span>{text}</span>
          </li>
        ))}
      </ol>
      <p>
        Or{" "}
        <button type="button" className="link-button" onClick={() => useDialogs.getState().open({ kind: "template" })}>
          start from a template
        </button>
        ,{" "}
        <button type="button" className="link-button" onClick={() => useUi.getState().set({ view: "labs" })}>
          open a lab
        </button>
        ,{" "}
        <button type="button" className="link-button" onClick={() => useDialogs.getState().open({ kind: "open" })}>
          open a file
        </button>
        , or drop one here. <kbd>?</kbd> lists all keyboard shortcuts.
      </p>
    </div>
  );
}

/** What the active tool does next. */
export function ToolHint({ tool, pending }: { tool: string; pending: string | null }) {
  if (tool === "select") return null;
  const hint = TOOLS.find((one) => one.tool === tool)?.hint ?? "";
  return (
    <p className="canvas-hint">
      {pending !== null ? `From ${pending}: choose the other end. Escape stops.` : `${hint} Escape goes back to Select.`}
    </p>
  );
}

export function LinkPreview({ from, frame }: { from: string; frame: RefObject<HTMLDivElement | null> }) {
  const node = useInternalNode(from);
  const { screenToFlowPosition } = useReactFlow();
  const [to, setTo] = useState<Point | null>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const follow = (event: PointerEvent) =>
      setTo(screenToFlowPosition({ x: event.clientX, y: event.clientY }, { snapToGrid: false }));
    element.addEventListener("pointermove", follow);
    return () => element.removeEventListener("pointermove", follow);
  }, [frame, screenToFlowPosition]);
  if (node === undefined || to === null) return null;
  const { x, y } = node.internals.positionAbsolute;
  return (
    <ViewportPortal>
      <svg className="link-preview" aria-hidden="true">
        <path d={straight({ x: x + HALF, y: y + HALF }, to)} />
      </svg>
    </ViewportPortal>
  );
}
