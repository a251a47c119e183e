/** The steps in a lab's text: the commands to type, and the nodes. */

export interface Step {
  /** Its key in the stored progress: the same in all languages of a text. */
  key: string;
  nodes: string[];
  text: string;
  /** Its commands, as a shell splits them. */
  lines: string[];
  /** The placeholder of its button. */
  place: HTMLElement;
}

const MAX_KEY_LENGTH = 240;

/** Finds the steps of a displayed text, and inserts a placeholder for a button after each. */
export function stepsOf(text: HTMLElement): Step[] {
  const seen = new Map<string, number>();
  return [...text.querySelectorAll<HTMLElement>("pre[data-step]")].map((block) => {
    const place = text.ownerDocument.createElement("div");
    place.className = "step-bar";
    block.after(place);
    const nodes = (block.dataset["step"] ?? "").split(/\s+/).filter((node) => node !== "");
    const typed = typedText(block.textContent ?? "");
    const lines = linesOf(typed);
    const name = `${nodes.join(" ")}: ${lines.join("; ")}`.slice(0, MAX_KEY_LENGTH);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { key: count === 1 ? name : `${name} #${count}`, nodes, text: typed, lines, place };
  });
}

/** The input of a block: its lines without prompts, with one newline at the end. */
export function typedText(block: string): string {
  const lines = block.split("\n").map((line) => line.replace(/^\$ (?=\S)/, ""));
  return `${lines.join("\n").trim()}\n`;
}

/** The lines that a shell runs: without empty lines and comments. */
export function linesOf(typed: string): string[] {
  return typed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
