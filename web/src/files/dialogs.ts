/** Which dialog is open. */

import { create } from "zustand";

export type OpenDialog =
  | { kind: "open" }
  | { kind: "template" }
  | { kind: "keys" }
  | { kind: "closed" }
  | { kind: "import-report"; documentId: string }
  | { kind: "save-as"; documentId: string; then?: () => void }
  | { kind: "confirm"; title: string; text: string; choices: { label: string; main?: boolean; act: () => void }[] };

interface Dialogs {
  dialog: OpenDialog | null;
  open: (dialog: OpenDialog) => void;
  close: () => void;
}

export const useDialogs = create<Dialogs>()((set) => ({
  dialog: null,
  open: (dialog) => set({ dialog }),
  close: () => set({ dialog: null }),
}));
