// @vitest-environment jsdom
import { expect, it } from "vitest";

import { linesOf, stepsOf, typedText } from "./steps";

it("finds steps with their nodes, and makes a place after each", () => {
  const text = document.createElement("div");
  text.innerHTML = '<p>a</p><pre data-step="h1 h2"><code>sysctl -w a=1\n</code></pre><pre><code>output</code></pre>';
  const steps = stepsOf(text);
  expect(steps).toHaveLength(1);
  expect(steps[0]).toMatchObject({ key: "h1 h2: sysctl -w a=1", nodes: ["h1", "h2"], text: "sysctl -w a=1\n" });
  expect(steps[0]?.place.previousElementSibling?.tagName).toBe("PRE");
});

it("numbers steps with the same commands", () => {
  const text = document.createElement("div");
  text.innerHTML = '<pre data-step="h1"><code>ping h2</code></pre>'.repeat(2);
  expect(stepsOf(text).map(({ key }) => key)).toEqual(["h1: ping h2", "h1: ping h2 #2"]);
});

it("types no prompts, but comments and variables as they are", () => {
  expect(typedText("# look\n$ tc qdisc show\n")).toBe("# look\ntc qdisc show\n");
  expect(typedText("echo $HOME\n  indented")).toBe("echo $HOME\n  indented\n");
});

it("waits for no exit status of comments", () => {
  expect(linesOf("# look\ntc qdisc show\n\n")).toEqual(["tc qdisc show"]);
});
