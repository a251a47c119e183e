/** The names of a chart's lines, as buttons that hide and show them. */

import { isolated, toggled } from "../charts/hidden";
import { element } from "./dom";

export interface LegendEntry {
  id: string;
  label: string;
  /** The sample before the name: of its line, or its mark. */
  sign: Element;
}

export class Legend {
  readonly root = element("div", { class: "legend", role: "group", "aria-label": "Lines shown" });
  private hidden: ReadonlySet<string> = new Set();
  private readonly buttons = new Map<string, HTMLButtonElement>();

  constructor(
    entries: readonly LegendEntry[],
    private readonly changed: () => void,
  ) {
    for (const { id, label, sign } of entries) {
      const key = element("span", { class: "key", "aria-hidden": "true" }, sign);
      const button = element("button", { type: "button", "aria-pressed": "true" }, key, label);
      button.title = "Click to hide or show; double-click to show only this one";
      button.addEventListener("click", () => this.hide(toggled(this.hidden, id)));
      button.addEventListener("dblclick", () => this.hide(isolated(this.hidden, id, [...this.buttons.keys()])));
      this.buttons.set(id, button);
      this.root.append(button);
    }
  }

  get length(): number {
    return this.buttons.size;
  }

  isHidden(id: string): boolean {
    return this.hidden.has(id);
  }

  private hide(hidden: ReadonlySet<string>): void {
    this.hidden = hidden;
    for (const [id, button] of this.buttons) button.setAttribute("aria-pressed", String(!hidden.has(id)));
    this.changed();
  }
}
