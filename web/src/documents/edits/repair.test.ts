import { describe, expect, it } from "vitest";
import type { RepairEdit } from "../../api/types";
import { NO_HISTORY, pushStep } from "../history";
import { applyEdits, assignedBy } from "./repair";

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

  it("are recorded as automatically assigned", () => {
    expect(assignedBy(EDITS)).toEqual(["h1 10.0.1.1/24", "r1 10.0.1.254/24", "h1 default 10.0.1.254"]);
  });

  it("belong to the undo step of the link, however late they come", () => {
    const linked = pushStep(NO_HISTORY, "before", false, 0);
    expect(pushStep(linked, "linked", "always", 60_000).undo).toEqual(["before"]);
  });
});
