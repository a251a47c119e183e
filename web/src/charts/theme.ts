/** Colours for canvases, which know no CSS variables, and a sign when they have changed. */

import { useSyncExternalStore } from "react";

/** What a CSS colour, such as `var(--fg)`, is at an element now. */
export function resolveColour(element: HTMLElement, colour: string): string {
  const probe = element.ownerDocument.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

let version = 0;

/** Grows whenever the page goes from light to dark or back. */
export function useThemeVersion(): number {
  return useSyncExternalStore(listen, () => version);
}

function listen(changed: () => void): () => void {
  const onChange = () => {
    version += 1;
    changed();
  };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", onChange);
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["class", "style", "data-theme"] });
  return () => {
    dark.removeEventListener("change", onChange);
    observer.disconnect();
  };
}
