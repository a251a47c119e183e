import { expect, it } from "vitest";

import { tellLines, typingsOf } from "./advice";

const lines = [
  { node: "h1", line: "sysctl -w a=1" },
  { node: "h2", line: "sysctl -w a=1" },
  { node: "h1", line: "sysctl -w b=2" },
  { node: "h2", line: "sysctl -w b=2" },
  { node: "root", line: "tc qdisc show" },
];

it("types at nodes together what is the same at all of them, in order", () => {
  expect(typingsOf(lines)).toEqual([
    { nodes: ["h1", "h2"], text: "sysctl -w a=1\nsysctl -w b=2\n" },
    { nodes: ["root"], text: "tc qdisc show\n" },
  ]);
});

it("names the nodes in what is copied", () => {
  expect(tellLines(lines)).toBe("# h1, h2\nsysctl -w a=1\nsysctl -w b=2\n# root\ntc qdisc show\n");
});
