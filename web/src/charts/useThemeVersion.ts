/** A number that grows whenever the theme changes. A module of its own: reports draw without React. */

import { useSyncExternalStore } from "react";

import { onThemeChange } from "./theme";

let version = 0;

export function useThemeVersion(): number {
  return useSyncExternalStore(
    (changed) =>
      onThemeChange(() => {
        version += 1;
        changed();
      }),
    () => version,
  );
}
