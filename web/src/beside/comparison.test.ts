import { expect, it } from "vitest";

import type { Level, Recording, SeriesInfo } from "../api/types";
import { SeriesStore } from "../live/seriesStore";
import { valuesOf } from "./comparison";

const INFO: SeriesInfo = { key: "tcp:bulk:throughput_bps", kind: "tcp", of: "bulk", quantity: "throughput_bps", unit: "bit/s", label: "bulk", limit: null };

function session(values: number[], level: number): { recordings: Recording[]; seriesStore: SeriesStore } {
  const seriesStore = new SeriesStore();
  const header = new TextEncoder().encode(JSON.stringify({ recording: 1, whole: true, entries: [{ key: INFO.key, count: values.length }] }));
  const start = Math.ceil((4 + header.length) / 8) * 8;
  const bytes = new ArrayBuffer(start + 16 * values.length);
  new DataView(bytes).setUint32(0, header.length, true);
  new Uint8Array(bytes, 4, header.length).set(header);
  new Float64Array(bytes, start).set([...values.keys(), ...values]);
  seriesStore.take(bytes, 0);
  const levels: Level[] = [{ quantity: "throughput_bps", label: "capacity", value: level, from_s: 0 }];
  return { seriesStore, recordings: [{ number: 1, case: null, start_s: 0, end_s: 9, flows: [], series: [INFO], marks: [], levels, differences: [], kept: null, label: null }] };
}

it("holds the lines and near levels of both runs", () => {
  const range = valuesOf([session([0, 5, 90], 100), session([Number.NaN, 4, 9], 10)]).get("throughput_bps");
  expect(range?.least).toBe(4);
  expect(range?.most).toBeGreaterThan(100);
  // One that is far above all lines is not drawn.
  expect(valuesOf([session([5], 100), session([9], 10)]).get("throughput_bps")?.most).toBeLessThan(20);
});
