import { describe, expect, it } from "vitest";

import { scaleFor, byteSteps, formatClock, formatNumber, formatQuantity, formatSpeed, formatTicks, unitOf } from "./quantities";

describe("formatQuantity", () => {
  it.each([
    [3.28e9, "bit/s", "3.28 Gbit/s"],
    [9.4123e9, "bit/s", "9.41 Gbit/s"],
    [999.9e6, "bit/s", "1.00 Gbit/s"],
    [0, "bit/s", "0 bit/s"],
    [0.0204, "s", "20.4 ms"],
    [0.00002, "s", "20.0 µs"],
    [0, "s", "0 ms"],
    [26_214_400, "bytes", "25.0 MB"],
    [1514, "bytes", "1.48 KB"],
    [512, "bytes", "512 B"],
    [12_345, "packets", "12,345 packets"],
    [0.25, "1", "0.25"],
  ] as const)("formats %s %s as %s", (value, unit, text) => {
    expect(formatQuantity(value, unit)).toBe(text);
  });

  it("has a dash for a missing value", () => {
    expect(formatQuantity(null, "s")).toBe("–");
    expect(formatQuantity(Number.NaN, "s")).toBe("–");
  });
});

describe("scales and ticks", () => {
  it("gives all ticks of an axis one unit and the same digits", () => {
    const scale = scaleFor(1.2e9, "bit/s");
    expect(scale.unit).toBe("Gbit/s");
    expect(formatTicks([0, 0.5e9, 1e9], scale)).toEqual(["0.0", "0.5", "1.0"]);
    expect(formatTicks([0, 0.25e9, 0.5e9], scale)).toEqual(["0.00", "0.25", "0.50"]);
    expect(formatTicks([0, 2e9, 4e9], scale)).toEqual(["0", "2", "4"]);
  });

  it("has round steps for bytes, whose prefixes are powers of 1024", () => {
    expect(byteSteps(500_000)).toContain(200 * 1024);
    expect(formatTicks([0, 204_800, 409_600], scaleFor(500_000, "bytes"))).toEqual(["0", "200", "400"]);
    // Half a MB is no round number of KB, and 500 KB none of MB.
    const most = 2.4 * 1024 ** 2;
    expect(byteSteps(most)).toContain(0.5 * 1024 ** 2);
    expect(byteSteps(most)).not.toContain(500 * 1024);
    expect(Math.min(...byteSteps(100))).toBe(1);
  });

  it("takes a single tick, and none", () => {
    expect(formatTicks([1], { divisor: 1, unit: "s" })).toEqual(["1"]);
    expect(formatTicks([], { divisor: 1, unit: "s" })).toEqual([]);
  });
});

describe("the clock", () => {
  it("shows milliseconds, and minutes for long times", () => {
    expect(formatClock(0)).toBe("0.000 s");
    expect(formatClock(12.3456)).toBe("12.346 s");
    expect(formatClock(125.5)).toBe("2 min 05.500 s");
    expect(formatClock(119.9996)).toBe("2 min 00.000 s");
  });

  it.each([
    [3.21, "3.2x"],
    [13.4, "13x"],
    [567.8, "568x"],
    [1234.5, ">999x"],
    [0.123, "0.12x"],
    [0.0123, "0.012x"],
    [0.00123, "0.001x"],
    [0.00021, "<0.001x"],
    [0, "0x"],
  ])("formats a speed of %s as %s: at most three digits", (speed, text) => {
    expect(formatSpeed(speed)).toBe(text);
  });
});

it("writes small numbers with three digits and great ones whole", () => {
  expect(formatNumber(0.012345)).toBe("0.0123");
  expect(formatNumber(1234.6)).toBe("1,235");
});

it("has no unit for an unknown name", () => {
  expect(unitOf("bytes")).toBe("bytes");
  expect(unitOf("furlongs")).toBe("1");
});
