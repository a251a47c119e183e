/** The server's state: requested once, when first needed. */

import { create } from "zustand";
import { getJson } from "../api/client";
import type { Fields, ServerState } from "../api/types";

interface Server {
  state: ServerState | null;
  load: () => Promise<void>;
}

export const useServer = create<Server>()((set) => ({
  state: null,
  async load() {
    try {
      set({ state: await getJson<ServerState>("/api/state") });
    } catch {
      // Its users report the error.
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
