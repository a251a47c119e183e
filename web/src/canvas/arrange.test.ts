import { describe, expect, it } from "vitest";

import { readDrawing } from "../documents/drawing";
import { aligned, distributed, guided } from "./arrange";
import { autoLayout } from "./autoLayout";

const places = new Map([
  ["a", { x: 0, y: 0 }],
  ["b", { x: 40, y: 70 }],
  ["c", { x: 200, y: 20 }],
]);

describe("arranging", () => {
  it("puts nodes on one line", () => {
    expect([...aligned(places, "left").values()].map(({ x }) => x)).toEqual([0, 0, 0]);
    expect([...aligned(places, "bottom").values()].map(({ y }) => y)).toEqual([70, 70, 70]);
    expect([...aligned(places, "centre").values()].map(({ x }) => x)).toEqual([100, 100, 100]);
  });
  it("leaves the outermost in their places when it distributes", () => {
    expect(Object.fromEntries(distributed(places, "x"))).toEqual({ a: { x: 0, y: 0 }, b: { x: 100, y: 70 }, c: { x: 200, y: 20 } });
  });
  it("snaps dragged nodes to a line that is near", () => {
    expect(guided([{ x: 5, y: 300 }], [...places.values()])).toEqual({ shift: { x: -5, y: 0 }, guides: { x: 0, y: null } });
    expect(guided([{ x: 120, y: 120 }], [...places.values()])).toEqual({ shift: { x: 0, y: 0 }, guides: { x: null, y: null } });
  });
});

describe("symmetric layout", () => {
  it("draws a dumbbell as a mirror image about its bottleneck", () => {
    const found = autoLayout(
      readDrawing(`network:
  hosts: {h1: , h2: , h3: , h4: , h5: , h6: }
  switches: [s1, s2]
  links: [[h1, s1], [h2, s1], [h3, s1], [s1, s2], [s2, h4], [s2, h5], [s2, h6]]
`),
    );
    const y = (name: string) => found.get(name)?.y ?? NaN;
    const axis = y("s1");
    expect(y("s2")).toBe(axis);
    for (const side of [["h1", "h2", "h3"], ["h4", "h5", "h6"]]) {
      const off = side.map((name) => y(name) - axis).sort((one, other) => one - other);
      expect(off[1]).toBe(0);
      expect((off[0] ?? 0) + (off[2] ?? 0)).toBe(0);
    }
  });
  it("puts the root of a tree in the middle of its leaves", () => {
    const leaves = Array.from({ length: 6 }, (_, number) => `h${number}`);
    const found = autoLayout(
      readDrawing(`network:
  hosts: {${leaves.map((name) => `${name}: `).join(", ")}, root0: }
  switches: [s1, s2]
  links: [[root0, s1], [root0, s2], ${leaves.map((name, number) => `[${number < 2 ? "s1" : "s2"}, ${name}]`).join(", ")}]
flows: {bulk: {iperf3: root0 -> h5}}
`),
    );
    const y = (name: string) => found.get(name)?.y ?? NaN;
    expect(Math.abs(y("s1") - (y("h0") + y("h1")) / 2)).toBeLessThanOrEqual(10);
    expect(Math.abs(y("s2") - (y("h2") + y("h3") + y("h4") + y("h5")) / 4)).toBeLessThanOrEqual(10);
    expect(new Set([...found.values()].map((one) => `${one.x},${one.y}`)).size).toBe(9);
  });
});
