/** State shared by nodes and links on the canvas, besides their own data. */

import { createContext, useContext } from "react";
import type { StyleIndex } from "../charts/lineStyles";
import { ActivityFeed } from "./activityFeed";

export interface CanvasContext {
  feed: ActivityFeed;
  /** The line styles of flows that have a line in the session's charts. */
  flowStyles: ReadonlyMap<string, StyleIndex>;
  showsAddresses: boolean;
  /** The node whose name is being edited in place. */
  editing: string | null;
  /** The node that a new link or flow begins at. */
  pending: string | null;
  /** Tries a new name; false if it is rejected, and editing continues. */
  finishName: (from: string, to: string | null) => boolean;
  /** Starts dragging an end of a link to another node. */
  holdEnd: (index: number, end: 0 | 1) => void;
}

export const CanvasState = createContext<CanvasContext>({
  feed: new ActivityFeed(),
  flowStyles: new Map(),
  showsAddresses: false,
  editing: null,
  pending: null,
  finishName: () => true,
  holdEnd: () => undefined,
});

export function useCanvas(): CanvasContext {
  return useContext(CanvasState);
}
