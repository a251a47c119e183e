import { describe, expect, it } from "vitest";
import { NOTHING } from "../app/ui";
import { readDrawing } from "../documents/drawing";
import { ActivityFeed, lookOf } from "./activityFeed";
import { autoLayout } from "./autoLayout";
import type { LinkEdgeType } from "./elements";
import { makeEdges, makeNodes } from "./elements";
import { lineBetween } from "./geometry";
import { linkLabel, rateText, spelt, wrapLabel } from "./labels";
import { freeSpot, placesOf } from "./places";
import { FIELDS, LABELS } from "./testFields";

const TEXT = `network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h1], [s1, h2, {rate: 10gbit, delay: 20ms, to: {h2: {loss: 1%}}}]]
flows:
  bulk: {iperf3: h1 -> h2}
  lost: {iperf3: h1 -> nobody}
cases: {a: , b: {flows: {bulk: }}}
`;
const drawing = readDrawing(TEXT, "a");

describe("labels", () => {
  it("spells quantities out, and leaves anything else", () => {
    expect(["10gbit", "20ms", "0.01%", "1.5Mbit/s", "what 1"].map(spelt)).toEqual(["10 Gbit/s", "20 ms", "0.01 %", "1.5 Mbit/s", "what 1"]);
    expect([9.414e9, 1500, 12].map(rateText)).toEqual(["9.41 Gbit/s", "1.50 kbit/s", "12.0 bit/s"]);
    // Rounded to three digits they belong to the next prefix.
    expect([999.9e6, 999.6e3, 99.96e6].map(rateText)).toEqual(["1.00 Gbit/s", "1.00 Mbit/s", "100 Mbit/s"]);
  });
  it("shows directions separately where they differ, and wraps long lines", () => {
    const link = drawing.links[2];
    if (link === undefined) throw new Error("no link");
    expect(linkLabel(link, FIELDS)).toEqual(["to h2: 10 Gbit/s · 20 ms · 1 % lost", "to s1: 10 Gbit/s · 20 ms"]);
    const same = linkLabel({ ...link, towards: [{}, {}] }, FIELDS);
    expect(same).toEqual(["10 Gbit/s · 20 ms"]);
    expect(wrapLabel(same, 70)).toEqual(["10 Gbit/s", "20 ms"]);
    expect(linkLabel({ ...link, common: {}, towards: [{}, {}] }, FIELDS)).toEqual([]);
  });
  it("shows the phrase of every declared field", () => {
    const link = drawing.links[2];
    if (link === undefined) throw new Error("no link");
    const common = { delay: "20ms", jitter: "1ms", qdisc: "fq_codel limit 100", trace: "a/lte.trace", queue: "26214400", trace_once: "yes", unknown: "y" };
    expect(linkLabel({ ...link, common, towards: [{}, {}] }, FIELDS)).toEqual(["20 ms ±1 ms · trace lte.trace · queue 25 MB · fq_codel"]);
  });
  it.each(LABELS)("shows %o as the server's summary does", (common, words) => {
    const link = drawing.links[2];
    if (link === undefined) throw new Error("no link");
    expect(linkLabel({ ...link, common, towards: [{}, {}] }, FIELDS)).toEqual([words]);
  });
});

describe("elements", () => {
  const places = autoLayout(drawing);
  it("draws parallel links apart, whichever way round they are written", () => {
    const edges = makeEdges(drawing, places, NOTHING, new Set([2]), [], FIELDS);
    const links = edges.filter((one): one is LinkEdgeType => one.type === "link");
    const [first, second] = links.map(({ source, target, data }) => {
      const a = places.get(source);
      const b = places.get(target);
      return a && b ? lineBetween(a, b, data?.shift).from : null;
    });
    expect(Math.abs((first?.y ?? 0) - (second?.y ?? 0))).toBeGreaterThan(15);
    expect(links.map((one) => one.data?.problem)).toEqual([false, false, true]);
    expect(edges.map((one) => one.id)).toEqual(["link:0", "link:1", "link:2", "flow:bulk"]);
  });
  it("leaves out flows that the case leaves out", () => {
    expect(readDrawing(TEXT, "b").flows.map((one) => one.name)).toEqual(["lost"]);
  });
  it("keeps the objects of what has not changed", () => {
    const before = makeNodes(drawing, places, NOTHING, new Set(), []);
    const after = makeNodes(readDrawing(TEXT, "a"), places, { ...NOTHING, nodes: new Set(["h2"]) }, new Set(), before);
    expect(after.map((one, index) => one === before[index])).toEqual([true, false, true]);
    const edges = makeEdges(drawing, places, NOTHING, new Set(), [], FIELDS);
    expect(makeEdges(readDrawing(TEXT, "a"), places, NOTHING, new Set(), edges, FIELDS).every((one, index) => one === edges[index])).toBe(true);
  });
});

describe("places", () => {
  it("keeps what was placed when a node comes", () => {
    const before = new Map(placesOf("doc", drawing));
    const more = readDrawing(TEXT.replace("h2: 10.0.0.2/8", "h2: 10.0.0.2/8, h3: 10.0.0.3/8"), "a");
    const after = placesOf("doc", more);
    for (const [name, place] of before) expect(after.get(name)).toEqual(place);
    expect(after.has("h3")).toBe(true);
  });
  it("puts a node back where it was when its first position in the study is undone", () => {
    const before = placesOf("undo", drawing).get("h1");
    const dragged = readDrawing(`${TEXT}layout: {h1: [700, 300]}\n`, "a");
    expect(placesOf("undo", dragged).get("h1")).toEqual({ x: 700, y: 300 });
    expect(placesOf("undo", drawing).get("h1")).toEqual(before);
  });
  it("finds a spot that is free", () => {
    expect(freeSpot({ x: 3, y: 4 }, [])).toEqual({ x: 0, y: 0 });
    expect(freeSpot({ x: 0, y: 0 }, [{ x: 10, y: 10 }])).toEqual({ x: 90, y: 0 });
  });
  it("lays many nodes out in an area that is not one long column", () => {
    const hosts = Array.from({ length: 180 }, (_, number) => `h${number}: `).join(", ");
    const switches = Array.from({ length: 20 }, (_, number) => `s${number}`);
    const links = [...switches.slice(1).map((name) => `[s0, ${name}]`), ...Array.from({ length: 180 }, (_, number) => `[h${number}, s${number % 20}]`)];
    const big = readDrawing(`network:\n  hosts: {${hosts}}\n  switches: [${switches.join(", ")}]\n  links: [${links.join(", ")}]\n`);
    const all = [...autoLayout(big).values()];
    expect(new Set(all.map(({ x, y }) => `${x},${y}`)).size).toBe(200);
    const extent = (values: number[]) => Math.max(...values) - Math.min(...values);
    const shape = extent(all.map(({ x }) => x)) / extent(all.map(({ y }) => y));
    expect(shape).toBeGreaterThan(0.5);
    expect(shape).toBeLessThan(4);
  });
});

describe("activity", () => {
  const quiet = { tx_bps: 0, rate_bps: 1e9, backlog_bytes: 0, limit_bytes: null, recent_drops: 0 };
  it("has few distinct looks", () => {
    const scale = { queue_bytes: 1000 };
    expect(lookOf(quiet, scale, rateText)).toEqual({ load: 0, limited: true, fill: 0, drops: 0, rate: "" });
    const busy = lookOf({ tx_bps: 9.6e8, rate_bps: 1e9, backlog_bytes: 500, limit_bytes: 1000, recent_drops: 3 }, scale, rateText);
    expect(busy).toEqual({ load: 10, limited: true, fill: 10, drops: 3, rate: "960 Mbit/s" });
    expect(lookOf({ ...quiet, tx_bps: 10 }, scale, rateText).load).toBe(1);
  });
  it("is never full without a rate limit, however much others send", () => {
    const free = lookOf({ ...quiet, tx_bps: 3.34e9, rate_bps: null }, { queue_bytes: 1000 }, rateText);
    expect(free.limited).toBe(false);
    const slow = lookOf({ ...quiet, tx_bps: 3.34e9, rate_bps: 1e10 }, { queue_bytes: 1000 }, rateText);
    expect([slow.limited, slow.load]).toEqual([true, 3]);
  });
  it("notifies listeners once for each change", () => {
    const feed = new ActivityFeed();
    let times = 0;
    const stop = feed.listen(() => times++);
    const news = new Map([["h1-eth0", { ...quiet, limit_bytes: 7 }]]);
    feed.publish(news);
    feed.publish(news);
    expect([times, feed.largestLimit_bytes]).toEqual([1, 7]);
    stop();
    feed.publish(new Map());
    expect(times).toBe(1);
  });
});
