import { describe, expect, it } from "vitest";

import { SeriesStore, decodeSeries } from "./seriesStore";

type Entry = { key: string; points: [number, number][] };

/** A message as `longfat.studio.live.series` makes it. */
function message(entries: Entry[], options: { recording?: number; whole?: boolean; cut?: number } = {}): ArrayBuffer {
  const { recording = 1, whole = false, cut = 0 } = options;
  const header = new TextEncoder().encode(
    JSON.stringify({ recording, whole, entries: entries.map(({ key, points }) => ({ key, count: points.length })) }),
  );
  const start = Math.ceil((4 + header.length) / 8) * 8;
  const count = entries.reduce((sum, { points }) => sum + 2 * points.length, 0);
  const bytes = new ArrayBuffer(start + 8 * count);
  const view = new DataView(bytes);
  view.setUint32(0, header.length, true);
  new Uint8Array(bytes, 4, header.length).set(header);
  let at = start;
  for (const { points } of entries) {
    for (const column of [0, 1] as const) {
      for (const point of points) {
        view.setFloat64(at, point[column], true);
        at += 8;
      }
    }
  }
  return bytes.slice(0, bytes.byteLength - cut);
}

describe("decodeSeries", () => {
  it("finds each entry's times and values", () => {
    const decoded = decodeSeries(message([{ key: "tcp:bulk:rtt_s", points: [[0.1, 0.02], [0.2, 0.03]] }, { key: "queue:s1-eth1:drops", points: [[0.1, 7]] }]));
    expect(decoded.recording).toBe(1);
    expect(decoded.whole).toBe(false);
    expect([...(decoded.parts[0]?.times ?? [])]).toEqual([0.1, 0.2]);
    expect([...(decoded.parts[0]?.values ?? [])]).toEqual([0.02, 0.03]);
    expect([...(decoded.parts[1]?.values ?? [])]).toEqual([7]);
  });

  it("takes keys that are no ASCII, whatever the padding", () => {
    for (const name of ["ä", "äb", "h1 → h2", "12345678", "1234567"]) {
      const decoded = decodeSeries(message([{ key: name, points: [[1, 2]] }]));
      expect(decoded.parts[0]?.key).toBe(name);
      expect(decoded.parts[0]?.values[0]).toBe(2);
    }
  });

  it("rejects truncated and empty messages", () => {
    expect(() => decodeSeries(message([{ key: "a", points: [[1, 2]] }], { cut: 1 }))).toThrow("1 samples of a");
    expect(() => decodeSeries(new ArrayBuffer(2))).toThrow("length field");
    expect(() => decodeSeries(new Uint8Array([200, 0, 0, 0, 1]).buffer)).toThrow("within its header");
    expect(() => decodeSeries(new Uint8Array([2, 0, 0, 0, 123, 125]).buffer)).toThrow("no recording");
  });
});

describe("SeriesStore", () => {
  it("appends, and replaces where a message is whole", () => {
    const seriesStore = new SeriesStore();
    seriesStore.take(message([{ key: "a", points: [[1, 10]] }]), 0);
    seriesStore.take(message([{ key: "a", points: [[2, 20]] }]), 0);
    expect([...(seriesStore.get(1, "a")?.values ?? [])]).toEqual([10, 20]);
    seriesStore.take(message([{ key: "a", points: [[1, 11]] }], { whole: true }), 0);
    expect([...(seriesStore.get(1, "a")?.values ?? [])]).toEqual([11]);
    expect(seriesStore.revision).toBe(3);
    expect(seriesStore.get(2, "a")).toBeUndefined();
  });

  it("keeps drops for half a second, and none of replaced series", () => {
    const seriesStore = new SeriesStore();
    const key = "queue:s1-eth1:drops";
    seriesStore.take(message([{ key, points: [[1, 100]] }], { whole: true }), 0);
    expect(seriesStore.recentDrops(key, 0)).toBe(0);
    seriesStore.take(message([{ key, points: [[2, 103], [3, 107]] }]), 1000);
    expect(seriesStore.recentDrops(key, 1100)).toBe(7);
    expect(seriesStore.recentDrops(key, 1600)).toBe(0);
  });
});
