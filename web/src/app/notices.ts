/** Short messages to the user. They are shown over the canvas and announced by screen readers. */

import { create } from "zustand";

export type Level = "error" | "warning" | "info";

export interface Notice {
  number: number;
  level: Level;
  text: string;
}

interface Notices {
  notices: Notice[];
  notify: (level: Level, text: string) => void;
  dismiss: (number: number) => void;
}

/** How long a notice stays, in ms. */
const STAYS: Record<Level, number> = { error: 15_000, warning: 12_000, info: 4_000 };
const MAX = 5;

let count = 0;

export const useNotices = create<Notices>()((set, get) => ({
  notices: [],
  notify(level, text) {
    const number = ++count;
    set((state) => ({ notices: [...state.notices.filter((one) => one.text !== text), { number, level, text }].slice(-MAX) }));
    setTimeout(() => get().dismiss(number), STAYS[level]);
  },
  dismiss: (number) => set((state) => ({ notices: state.notices.filter((one) => one.number !== number) })),
}));

export function notify(level: Level, text: string): void {
  useNotices.getState().notify(level, text);
}
