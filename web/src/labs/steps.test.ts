import { expect, it } from "vitest";

import { stepsOf, typedText } from "./steps";

it("finds steps with their nodes, and makes a place after each", () => {
  const text = document.createElement("div");
  text.innerHTML = '<p>a</p><pre data-step="h1 h2"><code>sysctl -w a=1\n</code></pre><pre><code>output</code></pre>';
  const steps = stepsOf(text);
  expect(steps).toHaveLength(1);
  expect(steps[0]).toMatchObject({ nodes: ["h1", "h2"], text: "sysctl -w a=1\n" });
  expect(steps[0]?.place.previousElementSibling?.tagName).toBe("PRE");
});

it("types no prompts, but comments and variables as they are", () => {
  expect(typedText("# look\n$ tc qdisc show\n")).toBe("# look\ntc qdisc show\n");
  expect(typedText("echo $HOME\n  indented")).toBe("echo $HOME\n  indented\n");
});
