/** Assigns finished commands to steps, and updates the steps. */

import type { StepProgress } from "../api/types";
import type { Step } from "./steps";

/** A command that was sent to be typed. */
export interface Expected {
  key: string;
  node: string;
  line: string;
  /** Its number in the step, from 0. */
  index: number;
}

export interface TypedLine {
  node: string;
  line: string;
  status: number;
}

export interface Folded {
  /** The step that has changed; null if the command belongs to none. */
  step: { key: string; progress: StepProgress } | null;
  /** The commands still expected. */
  rest: Expected[];
}

const NONE: StepProgress = { good: [], status: null, done: false };

/**
 * Finds the step of a command that has ended.
 *
 * A command may be part of several steps. It is assigned to the step that was sent to be
 * typed, or else to the first step that contains it and is not done.
 */
export function foldTyped(
  steps: readonly Step[],
  progress: Readonly<Record<string, StepProgress>>,
  expected: readonly Expected[],
  typed: TypedLine,
): Folded {
  const line = typed.line.trim();
  const at = expected.findIndex((one) => one.node === typed.node && one.line === line);
  const rest = at < 0 ? [...expected] : expected.filter((_, index) => index !== at);
  const sent = at < 0 ? undefined : expected[at];
  const having = steps.filter(({ nodes, lines }) => nodes.includes(typed.node) && lines.includes(line));
  const step =
    steps.find(({ key }) => key === sent?.key) ?? having.find(({ key }) => progress[key]?.done !== true) ?? having[0];
  if (step === undefined) return { step: null, rest };
  const now = progress[step.key] ?? NONE;
  const own = `${typed.node} ${sent?.index ?? step.lines.indexOf(line)}`;
  const others = now.good.filter((one) => one !== own);
  const good = typed.status === 0 ? [...others, own] : others;
  const done = good.length === step.nodes.length * step.lines.length;
  return { step: { key: step.key, progress: { good, status: typed.status, done } }, rest };
}
