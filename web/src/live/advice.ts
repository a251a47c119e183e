/** What is to be typed of an advice: its lines, put together by node. */

import type { SetupLine } from "../api/types";

export interface Typing {
  nodes: string[];
  text: string;
}

/** One typing for each node; nodes that get the same lines are typed at together. */
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

/** The same for a clipboard: a comment with the nodes before their lines. */
export function tellLines(lines: readonly SetupLine[]): string {
  return typingsOf(lines)
    .map(({ nodes, text }) => `# ${nodes.join(", ")}\n${text}`)
    .join("");
}
