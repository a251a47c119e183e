/** Hints on an empty canvas, and for the active tool. */

import { useDialogs } from "../files/dialogs";
import { useUi } from "../app/ui";
import { TOOLS } from "./tools";

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
