/** The button for a new terminal, with the list of nodes. */

import { useRef } from "react";

import type { StudyDocument } from "../documents/model";
import { useSession } from "../live/store";
import { openTerminal } from "./open";

export function NodeMenu({ document }: { document: StudyDocument }) {
  const view = useSession(document.sessionId);
  const details = useRef<HTMLDetailsElement>(null);
  const nodes = nodesOf(document, view?.session?.nodes.map(({ name }) => name) ?? []);
  return (
    <details
      className="chart-menu"
      ref={details}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || details.current === null) return;
        details.current.open = false;
        details.current.querySelector("summary")?.focus();
      }}
    >
      <summary className="small-button">+ Terminal</summary>
      <div className="chart-menu-body terminal-nodes">
        {nodes.map((node) => (
          <button
            key={node}
            type="button"
            className="small-button"
            onClick={() => {
              if (details.current !== null) details.current.open = false;
              void openTerminal(document, node, { another: true });
            }}
          >
            {node}
          </button>
        ))}
      </div>
    </details>
  );
}

/** Hosts first, then switches, then root; from the drawing and from the running network. */
function nodesOf({ check, lastGood }: StudyDocument, running: readonly string[]): string[] {
  const network = (check?.study ?? lastGood)?.network;
  const drawn = [...(network?.hosts ?? []), ...(network?.switches ?? [])].map(({ name }) => name);
  const rest = running.filter((name) => name !== "root" && !drawn.includes(name));
  return [...drawn, ...rest, "root"];
}
