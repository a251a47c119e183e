/** Colours for canvases, which do not support CSS variables, and their changes. */

/** What a CSS colour, such as `var(--fg)`, currently resolves to at an element. */
export function resolveColour(element: HTMLElement, colour: string): string {
  const probe = element.ownerDocument.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** Calls `changed` whenever the theme changes; returns a function that stops it. */
export function onThemeChange(changed: () => void): () => void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["style", "data-theme"] });
  return () => {
    dark.removeEventListener("change", changed);
    observer.disconnect();
  };
}
