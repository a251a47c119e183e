/** The tools at the left. Nodes can also be dragged from here onto the canvas. */

import { useUi } from "../app/ui";
import { ToolIcon } from "./icons";
import { focusCanvas } from "./keys";
import { TOOLS } from "./tools";

export const DRAGGED = "application/x-longfat-node";

export function Palette() {
  const tool = useUi((state) => state.tool);
  const set = useUi((state) => state.set);
  return (
    <section aria-label="Drawing" className="palette-side">
    <div className="palette" role="toolbar" aria-label="Tools" aria-orientation="vertical">
      {TOOLS.map((one) => {
        const isNode = one.tool === "host" || one.tool === "switch" || one.tool === "router";
        return (
          <button
            key={one.tool}
            type="button"
            className="palette-tool"
            aria-pressed={tool === one.tool}
            aria-keyshortcuts={one.key}
            title={`${one.name} (${one.key}). ${one.hint}`}
            draggable={isNode}
            onDragStart={(event) => {
              event.dataTransfer.setData(DRAGGED, one.tool);
              event.dataTransfer.effectAllowed = "copy";
            }}
            onClick={() => {
              set({ tool: one.tool });
              if (one.tool !== "select") focusCanvas();
            }}
          >
            {ToolIcon[one.tool]}
            <span>{one.name}</span>
          </button>
        );
      })}
    </div>
    </section>
  );
}
