import { describe, expect, it } from "vitest";
import { leastChange } from "./sync";

describe("leastChange", () => {
  it.each([
    ["", "abc"],
    ["abc", ""],
    ["abc", "abxc"],
    ["aaa", "aa"],
    ["one two", "one three two"],
    ["x: 1\n", "y: 1\n"],
  ])("comes from %j to %j", (now, wanted) => {
    const change = leastChange(now, wanted);
    if (change === null) throw new Error("no change");
    expect(now.slice(0, change.from) + change.insert + now.slice(change.to)).toBe(wanted);
  });
  it("leaves what is the same", () => {
    expect(leastChange("same", "same")).toBeNull();
    expect(leastChange("hosts: {a: 1}", "hosts: {a: 12}")).toEqual({ from: 12, to: 12, insert: "2" });
  });
});
