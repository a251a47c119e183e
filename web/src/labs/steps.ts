/** The steps in a lab's text: what is to be typed, and at which nodes. */

export interface Step {
  /** What it is called in what is kept of it: the same in all languages of a text. */
  key: string;
  nodes: string[];
  text: string;
  /** Its lines, as a shell knows them. */
  lines: string[];
  /** Where its button goes. */
  place: HTMLElement;
}

const LONGEST_KEY = 240;

/** Find the steps of a text that is on the page, and make a place for a button after each. */
export function stepsOf(text: HTMLElement): Step[] {
  const seen = new Map<string, number>();
  return [...text.querySelectorAll<HTMLElement>("pre[data-step]")].map((block) => {
    const place = text.ownerDocument.createElement("div");
    place.className = "step-bar";
    block.after(place);
    const nodes = (block.dataset["step"] ?? "").split(/\s+/).filter((node) => node !== "");
    const typed = typedText(block.textContent ?? "");
    const lines = linesOf(typed);
    const name = `${nodes.join(" ")}: ${lines.join("; ")}`.slice(0, LONGEST_KEY);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { key: count === 1 ? name : `${name} #${count}`, nodes, text: typed, lines, place };
  });
}

/** What is typed of a block: its lines without a prompt, and one end of line behind them. */
export function typedText(block: string): string {
  const lines = block.split("\n").map((line) => line.replace(/^\$ (?=\S)/, ""));
  return `${lines.join("\n").trim()}\n`;
}

/** The lines of what is typed that a shell runs: no empty ones, and no comments. */
export function linesOf(typed: string): string[] {
  return typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
