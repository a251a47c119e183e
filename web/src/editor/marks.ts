/** Problems as marks in the text. */

import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Problem } from "../api/types";

export function marksOf(problems: readonly Problem[], text: Text, severity: "error" | "warning" = "error"): Diagnostic[] {
  return problems.map((problem) => {
    const line = text.line(Math.max(1, Math.min(problem.line ?? 1, text.lines)));
    const from = Math.min(line.from + Math.max(0, (problem.column ?? 1) - 1), line.to);
    const word = /^(?:"[^"]*"|'[^']*'|[^\s,\]}#]+)/.exec(text.sliceString(from, line.to))?.[0].length ?? 0;
    // An empty range would not be visible.
    const start = word === 0 && from === line.to ? Math.max(line.from, from - 1) : from;
    return { from: start, to: Math.max(from + word, start), severity, message: problem.message };
  });
}
