/** All keyboard shortcuts, and the mouse actions that have no button. */

import { Dialog } from "./Dialog";

const GROUPS: { title: string; keys: [string, string][] }[] = [
  {
    title: "Draw",
    keys: [
      ["V", "Select and move"],
      ["H  S  R", "Host, switch, router"],
      ["L", "Link: one node, then the other"],
      ["F", "Flow: from host to host"],
      ["N", "Note"],
      ["Enter", "Place a node, choose an end, rename"],
      ["Tab  ← ↑ → ↓", "Go to a node, and move it"],
      ["Escape", "Cancel"],
    ],
  },
  {
    title: "Edit",
    keys: [
      ["Ctrl+Z  Ctrl+Y", "Undo, redo"],
      ["Ctrl+C  Ctrl+V", "Copy, paste"],
      ["Ctrl+D", "Duplicate"],
      ["Ctrl+A", "Select all"],
      ["Drag  Shift", "Select an area; add to what is selected"],
      ["Delete", "Delete"],
    ],
  },
  {
    title: "Time and terminals",
    keys: [
      ["Space", "Hold or resume virtual time"],
      ["T", "Terminal at the selected node; or double-click it"],
      ["Ctrl+]", "In a terminal: skip to the end of a command"],
      ["Ctrl+Shift+C  V", "Copy and paste in a terminal"],
      ["Ctrl+Shift+E", "Leave a terminal"],
    ],
  },
  {
    title: "View",
    keys: [
      ["Drag, right or middle button", "Move the canvas"],
      ["+  −  0", "Zoom in, zoom out, show everything"],
      ["A", "Lay out automatically"],
      ["I", "Interfaces and addresses"],
    ],
  },
  {
    title: "Files",
    keys: [
      ["Ctrl+O", "Open"],
      ["Ctrl+S", "Save"],
      ["Ctrl+Shift+S", "Save as"],
    ],
  },
];

export function KeysDialog({ close }: { close: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" close={close} wide>
      <div className="keys">
        {GROUPS.map(({ title, keys }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, does]) => (
                <div key={key}>
                  <dt>
                    {key.split("  ").map((one) => (
                      <kbd key={one}>{one}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
