import { describe, expect, it, vi } from "vitest";

import { isolated, toggled } from "./hidden";
import { stretches } from "./painter";
import { TimeAxis } from "./timeAxis";

function axis(): TimeAxis {
  const made = new TimeAxis();
  made.include({ from: 0, to: 8 });
  made.include({ from: 2, to: 10 });
  return made;
}

describe("TimeAxis", () => {
  it("shows the whole of all charts at first", () => {
    expect(axis().now).toEqual({ from: 0, to: 10 });
    expect(axis().isWhole).toBe(true);
  });

  it("stays in the whole, and keeps a least width", () => {
    const made = axis();
    made.show({ from: -5, to: -1 });
    expect(made.now).toEqual({ from: 0, to: 4 });
    made.show({ from: 3, to: 3 });
    expect(made.now.to - made.now.from).toBeCloseTo(0.001);
    made.show({ from: -50, to: 50 });
    expect(made.isWhole).toBe(true);
  });

  it("moves and zooms by parts of what is shown", () => {
    const made = axis();
    made.change(0, 0.5);
    expect(made.now).toEqual({ from: 2.5, to: 7.5 });
    made.change(0.5, 1);
    expect(made.now).toEqual({ from: 5, to: 10 });
    made.change(0, 4);
    expect(made.isWhole).toBe(true);
  });

  it("notifies followers once for each change", () => {
    const made = axis();
    const changed = vi.fn();
    const stop = made.follow(changed);
    made.show({ from: 1, to: 2 });
    made.show({ from: 1, to: 2 });
    made.reset();
    expect(changed).toHaveBeenCalledTimes(2);
    stop();
    made.show({ from: 1, to: 2 });
    expect(changed).toHaveBeenCalledTimes(2);
  });
});

describe("what is hidden", () => {
  it("is hidden and shown by turns", () => {
    expect([...toggled(new Set(["a"]), "b")]).toEqual(["a", "b"]);
    expect([...toggled(new Set(["a"]), "a")]).toEqual([]);
  });

  it("is all but one, and nothing when that one was alone", () => {
    const all = ["a", "b", "c"];
    const alone = isolated(new Set<string>(), "b", all);
    expect([...alone]).toEqual(["a", "c"]);
    expect([...isolated(alone, "b", all)]).toEqual([]);
  });
});

it("finds the stretches at which all values are known", () => {
  expect(stretches([0, 1, 2, 3, 4], [1, null, 1, 1, 1], [1, 1, 1, 1, null])).toEqual([
    [0, 1],
    [2, 4],
  ]);
  expect(stretches([], [])).toEqual([]);
});
