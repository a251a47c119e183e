/** Light or dark: the system's setting, unless the user chose one. */

import { useEffect } from "react";
import type { Theme } from "./ui";
import { useUi } from "./ui";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

export function isDark(theme: Theme): boolean {
  return theme === "dark" || (theme === "system" && dark.matches);
}

/** Keeps the page's root marked `data-theme="light"` or `"dark"`. */
export function useTheme(): void {
  const theme = useUi((state) => state.theme);
  useEffect(() => {
    const show = () => (document.documentElement.dataset["theme"] = isDark(theme) ? "dark" : "light");
    show();
    dark.addEventListener("change", show);
    return () => dark.removeEventListener("change", show);
  }, [theme]);
}

export function switchTheme(): void {
  const { theme, set } = useUi.getState();
  set({ theme: isDark(theme) ? "light" : "dark" });
}
