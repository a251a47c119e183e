/** The steps in a lab's text: what is to be typed, and at which nodes. */

export interface Step {
  nodes: string[];
  text: string;
  /** Where its button goes. */
  place: HTMLElement;
}

/** Find the steps of a text that is on the page, and make a place for a button after each. */
export function stepsOf(text: HTMLElement): Step[] {
  return [...text.querySelectorAll<HTMLElement>("pre[data-step]")].map((block) => {
    const place = text.ownerDocument.createElement("div");
    place.className = "step-bar";
    block.after(place);
    const nodes = (block.dataset["step"] ?? "").split(/\s+/).filter((node) => node !== "");
    return { nodes, text: typedText(block.textContent ?? ""), place };
  });
}

/** What is typed of a block: its lines without a prompt, and one end of line behind them. */
export function typedText(block: string): string {
  const lines = block.split("\n").map((line) => line.replace(/^\$ (?=\S)/, ""));
  return `${lines.join("\n").trim()}\n`;
}
