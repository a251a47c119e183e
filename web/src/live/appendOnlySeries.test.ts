import { describe, expect, it } from "vitest";

import { AppendOnlySeries } from "./appendOnlySeries";

describe("AppendOnlySeries", () => {
  it("keeps what is appended, over many times its first room", () => {
    const line = new AppendOnlySeries();
    for (let at = 0; at < 5000; at += 1) line.append(Float64Array.of(at), Float64Array.of(2 * at));
    expect(line.length).toBe(5000);
    expect(line.times[4999]).toBe(4999);
    expect(line.last).toBe(9998);
    expect(line.lastTime).toBe(4999);
  });

  it("finds values by time", () => {
    const line = new AppendOnlySeries();
    line.append(Float64Array.of(1, 2, 2, 3), Float64Array.of(10, 20, 21, 30));
    expect(line.valueAt(0.5)).toBeNull();
    expect(line.valueAt(1)).toBe(10);
    expect(line.valueAt(2)).toBe(21);
    expect(line.valueAt(2.9)).toBe(21);
    expect(line.valueAt(99)).toBe(30);
    expect(line.countUntil(2)).toBe(3);
  });

  it("is empty after clear", () => {
    const line = new AppendOnlySeries();
    line.append(Float64Array.of(1), Float64Array.of(10));
    line.clear();
    expect(line.last).toBeNull();
    expect(line.length).toBe(0);
  });
});
