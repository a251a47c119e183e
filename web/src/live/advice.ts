/** The commands of an advice, grouped by node. */

import type { SetupLine } from "../api/types";

export interface Typing {
  nodes: string[];
  text: string;
}

/** One typing for each node; nodes with the same commands share one. */
export function typingsOf(lines: readonly SetupLine[]): Typing[] {
  const byNode = new Map<string, string[]>();
  for (const { node, line } of lines) byNode.set(node, [...(byNode.get(node) ?? []), line]);
  const byText = new Map<string, string[]>();
  for (const [node, typed] of byNode) {
    const text = `${typed.join("\n")}\n`;
    byText.set(text, [...(byText.get(text) ?? []), node]);
  }
  return [...byText].map(([text, nodes]) => ({ nodes, text }));
}

/** The same for the clipboard: a comment with the nodes before their commands. */
export function formatLines(lines: readonly SetupLine[]): string {
  return typingsOf(lines)
    .map(({ nodes, text }) => `# ${nodes.join(", ")}\n${text}`)
    .join("");
}
