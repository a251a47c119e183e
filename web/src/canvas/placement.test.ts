import { describe, expect, it } from "vitest";
import { NOTHING } from "../app/ui";
import { readDrawing } from "../documents/drawing";
import { makeEdges, makeNodes } from "./elements";
import { reversed, type Point } from "./geometry";
import { extentOf, placeLabels, queueBox } from "./placedLabels";
import { lengthInside, overlap, Placement } from "./placement";
import { FIELDS } from "./testFields";

describe("placement", () => {
  const size = { width: 40, height: 20 };

  it("takes the first place that is free, and keeps later labels away from it", () => {
    const placement = new Placement();
    placement.avoidBox({ x: -20, y: -10, width: 40, height: 20 });
    const middles = [{ x: 0, y: 0 }, { x: 0, y: 30 }, { x: 0, y: 60 }];
    expect(placement.place({ id: "a", size, middles })).toMatchObject({ x: -20, y: 20 });
    expect(placement.place({ id: "b", size, middles })).toMatchObject({ x: -20, y: 50 });
  });

  it("keeps off strokes, but for its own", () => {
    const placement = new Placement();
    placement.avoidStroke({ from: { x: -200, y: 0 }, to: { x: 200, y: 0 }, of: "flow" });
    const middles = [{ x: 0, y: 0 }, { x: 0, y: -11 }];
    expect(placement.place({ id: "a", size, middles })?.y).toBe(-21);
    expect(placement.place({ id: "b", size, middles: [{ x: 100, y: 0 }, { x: 100, y: -11 }], own: "flow" })?.y).toBe(-10);
  });

  it("has no place for a label that names none", () => {
    expect(new Placement().place({ id: "a", size, middles: [] })).toBeNull();
  });

  it("measures what lies in a box", () => {
    const box = { x: 0, y: 0, width: 10, height: 10 };
    expect(overlap(box, { x: 5, y: 5, width: 10, height: 10 })).toBe(25);
    expect(overlap(box, { x: 10, y: 0, width: 10, height: 10 })).toBe(0);
    expect(lengthInside({ from: { x: -5, y: 5 }, to: { x: 20, y: 5 } }, box)).toBeCloseTo(10);
    expect(lengthInside({ from: { x: -5, y: -5 }, to: { x: 15, y: 15 } }, box)).toBeCloseTo(Math.hypot(10, 10));
    expect(lengthInside({ from: { x: 5, y: 11 }, to: { x: 5, y: 30 } }, box)).toBe(0);
    expect(lengthInside({ from: { x: 5, y: 5 }, to: { x: 5, y: 5 } }, box)).toBe(0);
  });
});

describe("labels on the canvas", () => {
  const text = (shape: string) => `network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links: [[h1, s1, {rate: 10gbit, to: {s1: {delay: 20ms, queue: 25000000}}}], [s1, s2${shape}], [s2, h2, {rate: 1gbit, loss: 1%}]]
flows: {bulk: {iperf3: h1 -> h2}, back: {iperf3: h2 -> h1}, near: {ping: h1 -> h2}}
`;
  const rows: Record<string, (index: number) => Point> = {
    "a row": (index) => ({ x: index * 160, y: 0 }),
    "a narrow row": (index) => ({ x: index * 110, y: 0 }),
    "a column": (index) => ({ x: 0, y: index * 140 }),
    "a slope": (index) => ({ x: index * 130, y: index * 90 }),
  };

  it.each(Object.keys(rows))("do not cover each other or a node in %s", (name) => {
    const drawing = readDrawing(text(", {rate: 10gbit, delay: 20ms, queue: 25000000}"));
    const places = new Map(["h1", "s1", "s2", "h2"].map((node, index) => [node, rows[name]?.(index) ?? { x: 0, y: 0 }]));
    const nodes = makeNodes(drawing, places, NOTHING, new Set(), []);
    const edges = makeEdges(drawing, places, NOTHING, new Set(), [], FIELDS);
    const placed = placeLabels(nodes, edges, false);
    const boxes = [...placed.labels, ...placed.rates].map(({ box }) => box);
    expect(boxes.length).toBeGreaterThanOrEqual(placed.rates.length + 6);
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(index + 1)) expect(overlap(one, other)).toBeLessThan(30);
      for (const { position } of nodes) expect(overlap(one, { x: position.x - 26, y: position.y - 26, width: 52, height: 52 })).toBeLessThan(30);
    }
    const extent = extentOf(drawing, nodes, edges, placed);
    for (const box of boxes) expect(overlap(box, extent)).toBeCloseTo(box.width * box.height);
  });

  it("leave rates room beside the queues' counts of drops", () => {
    const drawing = readDrawing(text(", {rate: 5mbit}"));
    const places = new Map(["h1", "s1", "s2", "h2"].map((node, index) => [node, { x: index * 180, y: 0 }]));
    const edges = makeEdges(drawing, places, NOTHING, new Set(), [], FIELDS);
    const { rates, links } = placeLabels(makeNodes(drawing, places, NOTHING, new Set(), []), edges, false);
    expect(rates).toHaveLength(3);
    const queues = links.flatMap(({ line }) => [line, reversed(line)]).map(queueBox);
    for (const { box } of rates) for (const queue of queues) expect(overlap(box, queue)).toBeLessThan(30);
  });

  it("omits a direction without properties, and formats sizes", () => {
    const drawing = readDrawing(text(", {to: {s2: {queue: 26214400}}}"));
    const places = new Map(["h1", "s1", "s2", "h2"].map((node, index) => [node, { x: index * 300, y: 0 }]));
    const edges = makeEdges(drawing, places, NOTHING, new Set(), [], FIELDS);
    const { labels } = placeLabels(makeNodes(drawing, places, NOTHING, new Set(), []), edges, false);
    expect(labels.find(({ id }) => id === "link:1")?.lines).toEqual(["to s2: queue 25 MB"]);
    expect(edges.find(({ id }) => id === "link:1")?.ariaLabel).toBe("Link from s1 to s2, to s2: queue 25 MB");
  });
});
