/** Which keys are handled by the canvas, and which by an input that has the focus. */

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog, .cm-editor, .xterm, [role='menu']") !== null) return true;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "range", "button"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** The canvas handles keys while no other element has the focus. */
export function isOnCanvas(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof Element && target.closest(".canvas") !== null);
}

/** The node that has the focus. */
export function focusedNode(): string | null {
  return document.activeElement?.closest<HTMLElement>(".react-flow__node")?.dataset["id"] ?? null;
}

/** As soon as the canvas has drawn it. */
export function focusNode(name: string, frames = 20): void {
  requestAnimationFrame(() => {
    const element = nodeElement(name);
    if (element !== null && element.style.visibility !== "hidden") element.focus({ preventScroll: true });
    else if (frames > 0) focusNode(name, frames - 1);
  });
}

export function nodeElement(name: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`.canvas .react-flow__node[data-id="${CSS.escape(name)}"]`);
}

/** The node under a point of the screen. */
export function nodeAt(x: number, y: number): string | null {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>(".react-flow__node")?.dataset["id"] ?? null;
}

/** Moves the focus to the canvas, so that Enter applies the tool there rather than presses the tool's button. */
export function focusCanvas(): void {
  document.querySelector<HTMLElement>(".canvas")?.focus({ preventScroll: true });
}
