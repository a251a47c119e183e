/** Zoom, layout and display options, at the canvas's lower edge. */

import { useReactFlow, useViewport } from "@xyflow/react";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import { layOut } from "./commands";
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
