/** Which two runs are shown side by side; kept while another page is shown. */

import { create } from "zustand";

interface Beside {
  /** Their run directories below the workspace; null for none. */
  paths: readonly string[] | null;
  show: (paths: readonly string[] | null) => void;
}

export const useBeside = create<Beside>()((set) => ({ paths: null, show: (paths) => set({ paths }) }));
