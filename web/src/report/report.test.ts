// @vitest-environment jsdom
import { describe, expect, it } from "vitest";

import { nameOf, placeText, ticksBetween } from "./axes";
import { arranged, cellText, csvOf, numberTest, testOf, type Column } from "./caseFilter";
import { colourAt, inkOn } from "./colours";
import type { AxisSpec, GridSpec, Stop } from "../api/types";
import { panelsOf, timesOf, type PackedTimeSpec } from "./data";
import { entriesOf } from "./gridLegend";

const AXIS: AxisSpec = { title: "rate (Mbit/s)", unit: "Mbit/s", log: false, texts: false, zero: null, fence: null, range: [0, 10], ticks: [[0, 5, 10], ["0", "5", "10"]] };

describe("axes", () => {
  it("have round ticks in the zoomed range", () => {
    expect(ticksBetween(0.31, 0.99, false)).toEqual([0.4, 0.6, 0.8]);
    expect(ticksBetween(1, 60, true)).toEqual([1, 2, 5, 10, 20, 50]);
    expect(ticksBetween(0.5, 2e4, true)).toEqual([1, 10, 100, 1000, 10000]);
    expect(ticksBetween(20, 50, true)).toEqual([20, 25, 30, 35, 40, 45, 50]);
  });

  it("read a text, a number with its unit, and 0 beside a logarithmic scale", () => {
    expect(placeText(AXIS, 9.41234)).toBe("9.412 Mbit/s");
    expect(placeText({ ...AXIS, log: true, zero: 0.01 }, 0.01)).toBe("0 Mbit/s");
    expect(placeText({ ...AXIS, texts: true, ticks: [[0, 1], ["reno", "cubic"]] }, 1)).toBe("cubic");
    expect(nameOf(AXIS)).toBe("rate");
  });
});

describe("colours", () => {
  const stops: Stop[] = [
    [0, "#000000"],
    [0.5, "#ff0000"],
    [1, "#ffffff"],
  ];

  it("lie between those of the stops", () => {
    expect(colourAt(stops, 0)).toEqual([0, 0, 0]);
    expect(colourAt(stops, 0.25)).toEqual([128, 0, 0]);
    expect(colourAt(stops, 0.75)).toEqual([255, 128, 128]);
    expect(colourAt(stops, 2)).toEqual([255, 255, 255]);
  });

  it("have ink that can be read on them", () => {
    expect(inkOn([255, 255, 200])).toBe("#000000");
    expect(inkOn([60, 0, 80])).toBe("#ffffff");
  });
});

describe("the table of cases", () => {
  const cc: Column = { key: "cc", title: "cc", unit: "", shown: true, choices: ["reno", "cubic"], texts: [1, 0, 1] };
  const name: Column = { key: "case", title: "case", unit: "", shown: true, texts: ["b, 10", "b, 9", "a"] };
  const rate: Column = { key: "rate", title: "rate", unit: "Mbit/s", shown: true, numbers: [2.5, null, 1200], digits: 1 };
  const all = () => true;

  it("formats numbers with the digits of their column, but not small ones as 0", () => {
    expect([0, 1, 2].map((row) => cellText(rate, row))).toEqual(["2.5", "-", "1,200.0"]);
    expect(cellText({ ...rate, numbers: [0.00001] }, 0)).toBe("0.00001");
    expect(cellText(cc, 0)).toBe("cubic");
  });

  it("sorts numbers and texts, with missing values last in either order", () => {
    expect(arranged(3, [all], { column: rate, isDown: false })).toEqual([0, 2, 1]);
    expect(arranged(3, [all], { column: rate, isDown: true })).toEqual([2, 0, 1]);
    expect(arranged(3, [all], { column: name, isDown: false })).toEqual([2, 1, 0]);
    expect(arranged(3, [all], { column: cc, isDown: false })).toEqual([1, 0, 2]);
  });

  it("filters by comparisons, ranges, choices and parts of texts", () => {
    const matches = (text: string) => [1, 5, 8].filter((value) => numberTest(text)?.(value));
    expect(["> 1", ">=5", "<5", "<= 5", "5", "2 - 8", "2..5", "1,000"].map(matches)).toEqual([[5, 8], [5, 8], [1], [1, 5], [5], [5, 8], [5], []]);
    expect(numberTest("much")).toBeNull();
    expect(testOf(rate, "much")).toBeNull();
    const rows = (column: Column, text: string) => arranged(3, [testOf(column, text) ?? all], null);
    expect(rows(rate, "> 0")).toEqual([0, 2]);
    expect(rows(cc, "1")).toEqual([0, 2]);
    expect(rows(name, "B,")).toEqual([0, 1]);
    expect(rows(name, "")).toEqual([0, 1, 2]);
  });

  it("is saved as CSV with whole numbers and quoted texts", () => {
    expect(csvOf([name, rate], [0, 1])).toBe('case,rate (Mbit/s)\n"b, 10",2.5\n"b, 9",\n');
  });
});

it("gives panels the times that they share", () => {
  const line = { label: "a", style_index: 0, times_s: 1, values: [1], low: null, high: null, parts: [{ times_s: 0, values: [2] }], dots: false, steps: false, dense: false, missing_s: 0 };
  const spec: PackedTimeSpec = { type: "time", time: "t", span: [0, 1], panels: [{ title: "x", metric: "x", unit: "s", counted: "", references: [], moments: [], lines: [line] }] };
  expect(timesOf([50_000, 10_000, 1])).toEqual([0.5, 0.6, 0.60001]);
  const [panel] = panelsOf(spec, [[], [7]]);
  expect(panel?.lines[0]).toMatchObject({ times_s: [7], missing_s: [], parts: [{ times_s: [], values: [2] }] });
});

it("lists measured series first, and theory once", () => {
  const series = { label: "reno", style_index: 0, rank: null, x: [1], y: [1] };
  const theory = { label: "model", style_index: null, rank: 0, x: [1], y: [1] };
  const facet = { title: "", series: [theory, series], marks: [{ label: "mark", rank: 1, style_index: 0, upright: true, at: 1 }] };
  const spec: GridSpec = { type: "lines", by: "cc", x: AXIS, y: AXIS, facets: [facet, facet] };
  expect(entriesOf(spec).map(({ id, label }) => [id, label])).toEqual([
    ["style 0", "reno"],
    ["rank 0", "model"],
    ["rank 1", "mark"],
  ]);
});
