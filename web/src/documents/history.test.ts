import { describe, expect, it } from "vitest";
import { NO_HISTORY, pushStep, stepBack, stepForward } from "./history";

describe("history", () => {
  it("goes back and forward", () => {
    const one = pushStep(NO_HISTORY, "a", false, 0);
    const two = pushStep(one, "b", false, 1);
    const back = stepBack(two, "c");
    expect(back?.text).toBe("b");
    expect(stepForward(back?.history ?? NO_HISTORY, "b")?.text).toBe("c");
    expect(stepBack(NO_HISTORY, "c")).toBeNull();
    expect(stepForward(NO_HISTORY, "c")).toBeNull();
  });

  it("joins continuous typing", () => {
    const one = pushStep(NO_HISTORY, "a", true, 0);
    expect(pushStep(one, "ab", true, 500).undo).toEqual(["a"]);
    expect(pushStep(one, "ab", true, 5000).undo).toEqual(["a", "ab"]);
    expect(pushStep(one, "ab", false, 500).undo).toEqual(["a", "ab"]);
    expect(pushStep(pushStep(one, "ab", false, 500), "abc", true, 501).undo).toEqual(["a", "ab", "abc"]);
  });

  it("drops redo steps after another change", () => {
    const back = stepBack(pushStep(NO_HISTORY, "a", false, 0), "b");
    expect(pushStep(back?.history ?? NO_HISTORY, "a", false, 1).redo).toEqual([]);
  });
});
