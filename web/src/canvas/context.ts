/** What nodes and links on the canvas need to know beside their own data. */

import { createContext, useContext } from "react";
import { ActivityFeed } from "./activityFeed";

export interface CanvasContext {
  feed: ActivityFeed;
  showsAddresses: boolean;
  /** The node whose name is being edited in place. */
  editing: string | null;
  /** The node that a new link or flow begins at. */
  pending: string | null;
  /** Tries a new name; false where it cannot be, and the person goes on typing. */
  finishName: (from: string, to: string | null) => boolean;
}

export const CanvasState = createContext<CanvasContext>({
  feed: new ActivityFeed(),
  showsAddresses: false,
  editing: null,
  pending: null,
  finishName: () => true,
});

export function useCanvas(): CanvasContext {
  return useContext(CanvasState);
}
