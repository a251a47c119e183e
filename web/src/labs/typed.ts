/** Which steps of labs were typed in which session, and how often. */

import { create } from "zustand";

interface TypedState {
  /** By the session's id and the step's number. */
  steps: Record<string, number>;
  note: (key: string) => void;
}

export const useTyped = create<TypedState>()((set) => ({
  steps: {},
  note: (key) => set(({ steps }) => ({ steps: { ...steps, [key]: (steps[key] ?? 0) + 1 } })),
}));
