import { describe, expect, it } from "vitest";

import { axisUnitOf, formatTime, legendOf, nearest, readingOf, referencesOf, topOf } from "./panelData";
import type { PanelData, PanelLine } from "../api/types";

const LINE: PanelLine = {
  label: "bulk",
  style_index: 0,
  times_s: [0, 1, 2],
  values: [1e9, 2e9, null],
  low: null,
  high: null,
  parts: [],
  dots: false,
  steps: false,
  dense: false,
  missing_s: [],
};

function panel(line: Partial<PanelLine> = {}, more: Partial<PanelData> = {}): PanelData {
  return { title: "Throughput", metric: "throughput", unit: "bit/s", counted: "", lines: [{ ...LINE, ...line }], references: [], moments: [], ...more };
}

function reading(time: number, line: Partial<PanelLine> = {}, more: Partial<PanelData> = {}): string | null {
  const of = panel(line, more);
  return readingOf({ ...LINE, ...line }, time, of);
}

describe("readings", () => {
  it("are those of the nearest sample, and none in a gap", () => {
    expect([0.4, 0.6, 1.4].map((time) => reading(time))).toEqual(["1.00 Gbit/s", "2.00 Gbit/s", "2.00 Gbit/s"]);
    expect(reading(1.9)).toBeNull();
    expect(reading(1, { times_s: [], values: [] })).toBeNull();
  });

  it("stay until the next sample where values do", () => {
    expect(reading(0.9, { steps: true })).toBe("1.00 Gbit/s");
    expect(reading(-0.1, { steps: true })).toBeNull();
  });

  it("have the ends of a band", () => {
    expect(reading(1, { low: [0, 1.5e9, 0], high: [0, 3e9, 0] })).toBe("2.00 Gbit/s (5-95 %: 1.50 Gbit/s to 3.00 Gbit/s)");
  });

  it("distinguishes a request without a reply from one with it", () => {
    expect(reading(0.5, { missing_s: [0.5] })).toBe("no reply");
    expect(reading(0.9, { missing_s: [0.5] })).toBe("2.00 Gbit/s");
  });

  it("count what is counted", () => {
    expect(reading(1, { values: [0, 1234, 0] }, { unit: "1", counted: "segments" })).toBe("1,234 segments");
  });
});

describe("the axis of values", () => {
  it("reaches over bands and near references, and not over far ones", () => {
    expect(topOf(panel())).toBeCloseTo(2e9 * 1.08);
    expect(topOf(panel({ low: [0, 0, 0], high: [3e9, 1, 1] }))).toBeCloseTo(3e9 * 1.08);
    const references = [
      { label: "near", value: 4e9 },
      { label: "bottleneck", value: 9e9 },
    ];
    const compared = panel({}, { references });
    expect(referencesOf(compared)).toEqual([
      { text: "near 4.00 Gbit/s", at: 4e9 },
      { text: "bottleneck 9.00 Gbit/s, far above", at: null },
    ]);
    expect(topOf(compared)).toBeCloseTo(4e9 * 1.08);
  });

  it("does not reach to a limit over a queue that stayed empty, but to one without any values", () => {
    const references = [{ label: "limit", value: 2.4e6 }];
    const empty = panel({ values: [0, 0, 0] }, { unit: "B", references });
    expect(referencesOf(empty)[0]?.at).toBeNull();
    expect(topOf(empty)).toBe(1);
    const none = panel({ values: [null, null, null] }, { unit: "B", references });
    expect(referencesOf(none)[0]?.at).toBe(2.4e6);
  });

  it("has an end where there is nothing", () => {
    expect(topOf(panel({ values: [0, 0, 0] }))).toBe(1);
  });

  it("has the unit of its values, or what they count", () => {
    expect(axisUnitOf(panel())).toBe("Gbit/s");
    expect(axisUnitOf(panel({}, { unit: "1", counted: "segments" }))).toBe("segments");
  });
});

it("names what looks alike once, by the shortest name", () => {
  const names = legendOf([panel({ label: "bulk of h1" }), panel({ label: "bulk" }), panel({ label: "", style_index: 3 })]);
  expect(names).toEqual([{ label: "bulk", style_index: 0, isDots: false, isSolid: false }]);
});

it("finds the nearest of sorted times", () => {
  expect([-1, 0.4, 0.6, 9].map((time) => nearest([0, 1, 2], time))).toEqual([0, 0, 1, 2]);
  expect(nearest([], 1)).toBeNull();
});

it("formats times with digits according to the range", () => {
  expect(formatTime(1.23456, 60)).toBe("1.2 s");
  expect(formatTime(1.23456, 0.01)).toBe("1.23456 s");
});
