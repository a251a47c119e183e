/** What the server tells of itself: asked once, when it is wanted. */

import { create } from "zustand";
import { getJson } from "../api/client";
import type { Fields, ServerState } from "../api/types";

interface Server {
  state: ServerState | null;
  ask: () => Promise<void>;
}

export const useServer = create<Server>()((set) => ({
  state: null,
  async ask() {
    try {
      set({ state: await getJson<ServerState>("/api/state") });
    } catch {
      // What needs it says so itself.
    }
  },
}));

export function useKernels(): ServerState["kernels"] {
  return useServer((server) => server.state)?.kernels ?? [];
}

const NONE: Fields = { network: [], host: [], direction: [], link: [], flow: [], tools: {} };

export function useFields(): Fields {
  return useServer((server) => server.state)?.fields ?? NONE;
}
