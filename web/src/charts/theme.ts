/** Colours for canvases, which know no CSS variables, and when they change. */

/** What a CSS colour, such as `var(--fg)`, is at an element now. */
export function resolveColour(element: HTMLElement, colour: string): string {
  const probe = element.ownerDocument.createElement("span");
  probe.style.color = colour;
  element.append(probe);
  const resolved = getComputedStyle(probe).color;
  probe.remove();
  return resolved;
}

/** Call `changed` whenever the page goes from light to dark or back; the answer ends that. */
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
