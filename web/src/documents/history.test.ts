import { describe, expect, it } from "vitest";
import { NO_HISTORY, remember, stepBack, stepForward } from "./history";

describe("history", () => {
  it("goes back and forward", () => {
    const one = remember(NO_HISTORY, "a", false, 0);
    const two = remember(one, "b", false, 1);
    const back = stepBack(two, "c");
    expect(back?.text).toBe("b");
    expect(stepForward(back?.history ?? NO_HISTORY, "b")?.text).toBe("c");
    expect(stepBack(NO_HISTORY, "c")).toBeNull();
    expect(stepForward(NO_HISTORY, "c")).toBeNull();
  });

  it("joins typing that does not rest", () => {
    const one = remember(NO_HISTORY, "a", true, 0);
    expect(remember(one, "ab", true, 500).undo).toEqual(["a"]);
    expect(remember(one, "ab", true, 5000).undo).toEqual(["a", "ab"]);
    expect(remember(one, "ab", false, 500).undo).toEqual(["a", "ab"]);
    expect(remember(remember(one, "ab", false, 500), "abc", true, 501).undo).toEqual(["a", "ab", "abc"]);
  });

  it("forgets what was undone when something else is done", () => {
    const back = stepBack(remember(NO_HISTORY, "a", false, 0), "b");
    expect(remember(back?.history ?? NO_HISTORY, "a", false, 1).redo).toEqual([]);
  });
});
