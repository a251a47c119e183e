/** A host, router or switch on the canvas. */

import type { NodeProps } from "@xyflow/react";
import { Handle, Position } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { MAX_NODE_NAME_LENGTH } from "../documents/devices";
import { useCanvas } from "./context";
import { colourClass } from "./decor";
import type { CanvasNode } from "./elements";
import { NodeIcon } from "./icons";

export const NodeView = memo(function NodeView({ data, selected }: NodeProps<CanvasNode>) {
  const { node, problem, colour } = data;
  const { editing, pending, showsAddresses, finishName } = useCanvas();
  const classes = ["node", `node-${node.kind}`];
  if (selected) classes.push("node-selected");
  if (pending === node.name) classes.push("node-pending");
  if (problem) classes.push("node-problem");
  return (
    <div className={`${classes.join(" ")}${colourClass(colour)}`}>
      {/* Links run from centre to centre; `lineBetween` cuts them at the borders. */}
      <Handle type="source" position={Position.Top} isConnectable={false} className="node-middle" />
      <Handle type="target" position={Position.Top} isConnectable={false} className="node-middle" />
      <div className="node-box">
        <NodeIcon kind={node.kind} />
        {problem && (
          <span className="node-mark" title="This node has a problem: see the list at the right">
            !
          </span>
        )}
      </div>
      <div className="node-text">
        {editing === node.name ? (
          <NameInput name={node.name} finish={(to) => finishName(node.name, to)} />
        ) : (
          <span className="node-name">{node.name}</span>
        )}
        {showsAddresses && node.address !== null && <span className="node-address">{node.address}</span>}
      </div>
    </div>
  );
});

function NameInput({ name, finish }: { name: string; finish: (to: string | null) => boolean }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // React Flow returns the focus to the node after a key: focus later than that.
    const timer = setTimeout(() => input.current?.select(), 0);
    return () => clearTimeout(timer);
  }, []);
  return (
    <input
      ref={input}
      className="node-input nodrag nopan"
      defaultValue={name}
      aria-label={`New name of ${name}`}
      maxLength={MAX_NODE_NAME_LENGTH}
      spellCheck={false}
      autoComplete="off"
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(event.currentTarget.value.trim());
        if (event.key === "Escape") finish(null);
      }}
      onBlur={(event) => {
        if (!finish(event.currentTarget.value.trim())) finish(null);
      }}
    />
  );
}
