import { describe, expect, it } from "vitest";

import { PLACES, paceAt, placeOf, readPace, formatPace } from "./Pace";

describe("the pace's slider", () => {
  it("goes from 0.001x to as fast as possible, monotonically", () => {
    expect(paceAt(0)).toBe(0.001);
    expect(paceAt(PLACES)).toBe("max");
    const factors = Array.from({ length: PLACES }, (_, place) => Number(paceAt(place)));
    for (let place = 1; place < PLACES; place += 1) {
      expect(factors[place]).toBeGreaterThanOrEqual(factors[place - 1] ?? 0);
    }
    expect(factors[PLACES - 1]).toBe(100);
  });

  it("finds the place of any factor", () => {
    expect(placeOf(null)).toBe(PLACES);
    expect(placeOf("max")).toBe(PLACES);
    expect(placeOf(0.0001)).toBe(0);
    expect(placeOf(500)).toBe(PLACES - 1);
    expect(paceAt(placeOf(1))).toBe(1);
  });
});

describe("readPace", () => {
  it.each([
    ["0.5", 0.5],
    ["0.5x", 0.5],
    [" 2 x", 2],
    ["0,1", 0.1],
    ["1/20", 0.05],
    ["50%", 0.5],
    ["max", "max"],
    ["auto", null],
    ["", null],
  ])("reads %j", (text, factor) => {
    expect(readPace(text)).toBe(factor);
  });

  it.each(["fast", "-1", "0", "0.0001", "1e9", "5000", "1/0", "1..2"])("refuses %j", (text) => {
    expect(readPace(text)).toBeUndefined();
  });

  it("formats what it parses", () => {
    expect(formatPace(null)).toBe("auto");
    expect(formatPace("max")).toBe("max");
    expect(formatPace(0.05)).toBe("0.05x");
  });
});
