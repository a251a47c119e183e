// @vitest-environment jsdom
import { expect, it } from "vitest";

import type { Step } from "./steps";
import { foldTyped } from "./progress";

function step(key: string, nodes: string[], lines: string[]): Step {
  return { key, nodes, lines, text: `${lines.join("\n")}\n`, place: document.createElement("div") };
}

const STEPS = [step("one", ["h1", "h2"], ["sysctl a"]), step("two", ["h1"], ["ping", "iperf3"]), step("three", ["h1"], ["ping"])];

it("ticks a step when all its lines have ended with 0 at all its nodes", () => {
  const first = foldTyped(STEPS, {}, [], { node: "h1", line: "sysctl a", status: 0 });
  expect(first.step).toEqual({ key: "one", progress: { good: ["h1 0"], status: 0, done: false } });
  const one = first.step?.progress;
  const second = foldTyped(STEPS, one ? { one } : {}, [], { node: "h2", line: "sysctl a ", status: 0 });
  expect(second.step?.progress.done).toBe(true);
});

it("removes the tick when a command fails", () => {
  const now = { one: { good: ["h1 0", "h2 0"], status: 0, done: true } };
  const { step: changed } = foldTyped(STEPS.slice(0, 1), now, [], { node: "h2", line: "sysctl a", status: 2 });
  expect(changed?.progress).toEqual({ good: ["h1 0"], status: 2, done: false });
});

it("assigns a command to the step that was sent, else to the first that is not done", () => {
  const sent = [{ key: "three", node: "h1", line: "ping", index: 0 }];
  const of = foldTyped(STEPS, {}, sent, { node: "h1", line: "ping", status: 0 });
  expect(of.step?.key).toBe("three");
  expect(of.rest).toEqual([]);
  expect(foldTyped(STEPS, {}, [], { node: "h1", line: "ping", status: 0 }).step?.key).toBe("two");
  const done = { two: { good: ["h1 0", "h1 1"], status: 0, done: true } };
  expect(foldTyped(STEPS, done, [], { node: "h1", line: "ping", status: 0 }).step?.key).toBe("three");
});

it("ignores other commands", () => {
  expect(foldTyped(STEPS, {}, [], { node: "h1", line: "ls", status: 0 })).toEqual({ step: null, rest: [] });
});
