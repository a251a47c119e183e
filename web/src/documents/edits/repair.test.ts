import { describe, expect, it } from "vitest";
import type { RepairEdit } from "../../api/types";
import { applyEdits } from "./repair";

const TEXT = `network:
  hosts: {h1: 10.0.0.1/8, r1: {forwards: yes, routes: {default: 10.0.9.1}}}
  links: [[h1, r1]]
`;
const EDITS: RepairEdit[] = [
  { path: ["hosts", "h1", "address"], value: "10.0.1.1/24", words: "" },
  { path: ["links", 0, 2, "addresses", "r1"], value: "10.0.1.254/24", words: "" },
  { path: ["hosts", "h1", "routes", "default"], value: "10.0.1.254", words: "" },
  { path: ["hosts", "r1", "routes", "default"], value: null, words: "" },
];

describe("edits that the server proposes", () => {
  it("set addresses and routes, and remove entries", () => {
    expect(applyEdits(TEXT, ["network"], EDITS)).toBe(`network:
  hosts: {h1: {address: 10.0.1.1/24, routes: {default: 10.0.1.254}}, r1: {forwards: yes}}
  links: [[h1, r1, {addresses: {r1: 10.0.1.254/24}}]]
`);
  });

  it("keep lists of names until a host gets a property", () => {
    const listed = "network:\n  hosts: [h1, m, h2]  # three\n  routers:\n    - r1   # the first\n    - r2\n  links: [[h1, r1]]\n";
    const forwards: RepairEdit[] = [{ path: ["hosts", "m", "forwards"], value: "yes", words: "" }];
    expect(applyEdits(listed, ["network"], forwards)).toBe(
      listed.replace("[h1, m, h2]", "[h1, h2]").replace("    - r2\n", "    - r2\n    - m\n"),
    );
    const routed: RepairEdit[] = [
      { path: ["routers", "r1", "routes", "10.0.9.0/24"], value: "10.0.1.1", words: "" },
      { path: ["hosts", "h1", "address"], value: "10.0.1.1/24", words: "" },
    ];
    expect(applyEdits(listed, ["network"], routed)).toBe(
      listed
        .replace("[h1, m, h2]", "{h1: 10.0.1.1/24, m: , h2: }")
        .replace("- r1 ", "r1: {routes: {10.0.9.0/24: 10.0.1.1}} ")
        .replace("- r2", "r2:"),
    );
  });

  it("remove the last route of a router, and not the router", () => {
    const text = "network:\n  hosts: [h1]\n  routers: {r1: {routes: {default: 10.7.7.7}}, r2: }\n  links: [[h1, r1]]\n";
    const edits: RepairEdit[] = [{ path: ["routers", "r1", "routes", "default"], value: null, words: "" }];
    expect(applyEdits(text, ["network"], edits)).toBe(text.replace("{routes: {default: 10.7.7.7}}", ""));
  });
});
