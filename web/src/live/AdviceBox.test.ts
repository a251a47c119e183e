import { expect, it } from "vitest";

import { formatLines, typingsOf } from "./AdviceBox";

const lines = [
  { node: "h1", line: "sysctl -w a=1" },
  { node: "h2", line: "sysctl -w a=1" },
  { node: "h1", line: "sysctl -w b=2" },
  { node: "h2", line: "sysctl -w b=2" },
  { node: "root", line: "tc qdisc show" },
];

it("groups nodes with the same commands, in order", () => {
  expect(typingsOf(lines)).toEqual([
    { nodes: ["h1", "h2"], text: "sysctl -w a=1\nsysctl -w b=2\n" },
    { nodes: ["root"], text: "tc qdisc show\n" },
  ]);
});

it("names the nodes in the copied text", () => {
  expect(formatLines(lines)).toBe("# h1, h2\nsysctl -w a=1\nsysctl -w b=2\n# root\ntc qdisc show\n");
});
