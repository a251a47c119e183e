import { describe, expect, it } from "vitest";

import { AppendOnlySeries } from "../live/appendOnlySeries";
import { decimate } from "./decimate";
import { averageOf, maximumOf, meanOf } from "./figures";

function line(points: [number, number][]): AppendOnlySeries {
  const made = new AppendOnlySeries();
  made.append(Float64Array.from(points, ([time]) => time), Float64Array.from(points, ([, value]) => value));
  return made;
}

describe("decimate", () => {
  it("keeps the least and the greatest of each pixel, in their order", () => {
    const many: [number, number][] = [];
    for (let at = 0; at < 10_000; at += 1) many.push([at / 1000, Math.sin(at)]);
    many[5005] = [5.005, 50];
    many[5006] = [5.006, -50];
    const { xs, columns, counts } = decimate([line(many)], 0, 10, 100);
    expect(xs).toHaveLength(202);
    expect(counts).toEqual([100]);
    const column = columns[0] ?? [];
    expect(column.slice(101, 103)).toEqual([50, -50]);
    expect(Math.max(...column.map((value) => value ?? 0))).toBe(50);
  });

  it("leaves few samples as they are, within a pixel", () => {
    const { xs, columns, counts } = decimate([line([[1, 10], [2, 20], [3, 30]])], 0, 4, 400);
    const drawn = xs.flatMap((time, index) => {
      const value = columns[0]?.[index];
      return value === null || value === undefined ? [] : [[time, value] as const];
    });
    expect(counts).toEqual([3]);
    expect(drawn.map(([, value]) => value)).toEqual([10, 20, 30]);
    drawn.forEach(([time], index) => expect(Math.abs(time - (index + 1))).toBeLessThan(0.011));
  });

  it("cuts lines at the edges of the range", () => {
    const { columns } = decimate([line([[0, 0], [10, 100]])], 2.5, 7.5, 10);
    expect(columns[0]?.[0]).toBe(25);
    expect(columns[0]?.[21]).toBe(75);
  });

  it("breaks a line at NaN, and joins it everywhere else", () => {
    const { columns } = decimate([line([[1, 10], [2, 20], [3, Number.NaN], [6, 30], [8, 40]])], 0, 10, 100);
    const column = columns[0] ?? [];
    const at = (time: number) => column[1 + 2 * Math.floor(time * 10)];
    expect([at(1), at(1.5), at(2), at(6), at(7), at(8)]).toEqual([10, undefined, 20, 30, undefined, 40]);
    // From the last sample on to the next line there is nothing, and so before and after all.
    expect([at(0.5), at(2.2), at(3), at(5), at(9)]).toEqual([null, null, null, null, null]);
  });

  it("sums up what is there, and reads nothing in a gap", () => {
    const broken = line([[0, 10], [1, 10], [2, Number.NaN], [8, 30], [9, 30]]);
    expect(averageOf(broken)).toBe(20);
    expect(meanOf(broken)).toBe(20);
    expect(maximumOf(broken)).toBe(30);
    expect([broken.valueAt(1.5), broken.valueAt(5), broken.valueAt(8.5)]).toEqual([10, null, 30]);
    const ended = line([[0, 10], [1, 12], [2, Number.NaN]]);
    expect([ended.last, ended.valueAt(3)]).toEqual([12, null]);
  });

  it("has nothing where there is nothing", () => {
    const { columns, counts } = decimate([undefined, new AppendOnlySeries(), line([[50, 1]])], 0, 10, 10);
    expect(counts).toEqual([0, 0, 0]);
    for (const column of columns) expect(column.every((value) => value === null)).toBe(true);
  });

  it("keeps times in order, so that a chart can search them", () => {
    const { xs } = decimate([], 3, 5, 7);
    expect([...xs].sort((one, other) => one - other)).toEqual(xs);
  });
});

describe("figures", () => {
  const rates = line([[1, 0], [2, 4], [4, 1]]);

  it("average over time, not over samples", () => {
    expect(averageOf(rates)).toBe(2);
    expect(meanOf(rates)).toBeCloseTo(5 / 3);
    expect(maximumOf(rates)).toBe(4);
  });

  it("are those of the visible range", () => {
    expect(averageOf(rates, { from: 1.5, to: 2 })).toBe(4);
    expect(averageOf(rates, { from: 1.5, to: 3 })).toBeCloseTo((4 * 0.5 + 1 * 1) / 1.5);
    expect(meanOf(rates, { from: 2, to: 4 })).toBe(2.5);
    expect(maximumOf(rates, { from: 2.5, to: 9 })).toBe(1);
    expect(meanOf(rates, { from: 5, to: 9 })).toBeNull();
    expect(averageOf(rates, { from: 5, to: 9 })).toBeNull();
    expect([rates.lastUntil(3), rates.lastUntil(3, 2.5)]).toEqual([4, null]);
  });

  it("are none of an empty series, and the value of a single one", () => {
    expect(averageOf(new AppendOnlySeries())).toBeNull();
    expect(meanOf(new AppendOnlySeries())).toBeNull();
    expect(maximumOf(new AppendOnlySeries())).toBeNull();
    expect(averageOf(line([[1, 7]]))).toBe(7);
  });
});
