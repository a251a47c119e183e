import { describe, expect, it } from "vitest";

import type { RunEntry } from "../api/types";
import { found, sideBySide, sorted } from "./filter";

function run(change: Partial<RunEntry>): RunEntry {
  const base = { path: "runs/x", study: "lab08", case: "default", seed: 1, kernel: "6.1.170", digest: "abc", modified_s: 1, report: null };
  return { ...base, results: [{ name: "bulk.receiver", text: "3.28 Gbit/s" }], ...change };
}

const runs = [run({}), run({ case: "tuned", modified_s: 3, seed: 10 }), run({ study: "lab16", modified_s: 2, seed: 2 })];

describe("found", () => {
  it("wants all words, whatever their case and order", () => {
    expect(found(runs, "")).toHaveLength(3);
    expect(found(runs, "LAB08 tuned")).toEqual([runs[1]]);
    expect(found(runs, "3.28 lab16")).toEqual([runs[2]]);
    expect(found(runs, "nothing")).toEqual([]);
  });
});

describe("sorted", () => {
  it("sorts numbers as numbers", () => {
    expect(sorted(runs, { key: "seed", up: true }).map(({ seed }) => seed)).toEqual([1, 2, 10]);
    expect(sorted(runs, { key: "modified_s", up: false }).map(({ modified_s }) => modified_s)).toEqual([3, 2, 1]);
    expect(sorted(runs, { key: "case", up: true }).map((each) => each.case)).toEqual(["default", "default", "tuned"]);
  });
});

it("shows metrics side by side, with gaps where a run has none", () => {
  const other = run({ results: [{ name: "ping.avg", text: "20 ms" }] });
  expect(sideBySide([run({}), other])).toEqual([
    { name: "bulk.receiver", texts: ["3.28 Gbit/s", null] },
    { name: "ping.avg", texts: [null, "20 ms"] },
  ]);
});
