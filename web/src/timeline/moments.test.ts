import { describe, expect, it } from "vitest";

import type { Recording, SeriesInfo } from "../api/types";
import { SeriesStore } from "../live/seriesStore";
import { activityAt, downAt, endOf, flowsAt, momentsOf, nextMoment, ratesAt } from "./moments";

const SERIES: Record<string, [number[], number[]]> = {
  "rate:s1-eth2:tx_bps": [[0, 1, 2, 3], [0, 5e6, 10e6, 2e6]],
  "rate:s1-eth2:limit_bps": [[0, 2.5], [20e6, 5e6]],
  "queue:s1-eth2:backlog_bytes": [[0, 1, 2, 3], [0, 100, 900, 50]],
  "queue:s1-eth2:drops": [[0, 1, 1.1, 1.2, 3], [0, 2, 3, 3, 9]],
  "tcp:bulk:throughput_bps": [[1, 2, 2.5], [4e6, 9e6, NaN]],
  "tcp:bulk:cwnd_bytes": [[1, 2], [14480, 28960]],
};

function made(): { recording: Recording; seriesStore: SeriesStore } {
  const seriesStore = new SeriesStore();
  seriesStore.take(messageOf(SERIES), 0);
  const series = Object.keys(SERIES).map((key): SeriesInfo => {
    const [kind = "", of = "", quantity = ""] = key.split(":");
    return { key, kind: kind as SeriesInfo["kind"], of, quantity, unit: "bytes", label: of, limit: 1000 };
  });
  const marks: Recording["marks"] = [
    { kind: "change", text: "s1 - h2: 5 Mbit/s", at_s: 2.5 },
    { kind: "event", text: "s1 - h2 down", at_s: 2.8 },
    { kind: "command", text: "root: link s1 h2 up", at_s: 2.9 },
  ];
  return { seriesStore, recording: { number: 1, case: null, start_s: 7, end_s: 10, flows: [], series, marks, levels: [], differences: [], kept: null, label: null } };
}

function messageOf(series: typeof SERIES): ArrayBuffer {
  const entries = Object.entries(series).map(([key, [times]]) => ({ key, count: times.length }));
  const header = new TextEncoder().encode(JSON.stringify({ recording: 1, whole: true, entries }));
  const start = Math.ceil((4 + header.length) / 8) * 8;
  const numbers = Object.values(series).flatMap(([times, values]) => [...times, ...values]);
  const message = new ArrayBuffer(start + 8 * numbers.length);
  new DataView(message).setUint32(0, header.length, true);
  new Uint8Array(message).set(header, 4);
  new Float64Array(message, start).set(numbers);
  return message;
}

describe("a moment of a recording", () => {
  it("shows the links' traffic, relative to their rate at that time", () => {
    const { recording, seriesStore } = made();
    expect(activityAt(recording, seriesStore, 2).get("s1-eth2")).toMatchObject({ tx_bps: 10e6, rate_bps: 20e6, backlog_bytes: 900, limit_bytes: 1000 });
    expect(activityAt(recording, seriesStore, 3).get("s1-eth2")).toMatchObject({ tx_bps: 2e6, rate_bps: 5e6, backlog_bytes: 50, recent_drops: 6 });
    expect(activityAt(recording, seriesStore, 2).get("s1-eth2")?.recent_drops).toBe(0);
  });

  it("shows running flows, and none that had ended", () => {
    const { recording, seriesStore } = made();
    expect(flowsAt(recording, seriesStore, 1.5)).toEqual([{ name: "bulk", throughput_bps: 4e6, rtt_s: null, cwnd_bytes: 14480 }]);
    expect(flowsAt(recording, seriesStore, 2.6)[0]?.throughput_bps).toBeNull();
    expect(flowsAt(recording, seriesStore, 0.5)[0]?.throughput_bps).toBeNull();
  });

  it("returns the rates of links that were changed", () => {
    const { recording, seriesStore } = made();
    expect(ratesAt(recording, seriesStore, 1)).toEqual([{ name: "s1-eth2", rate_bps: 20e6 }]);
    expect(ratesAt(recording, seriesStore, 2.6)).toEqual([{ name: "s1-eth2", rate_bps: 5e6 }]);
  });

  it("returns the links that were down", () => {
    const { recording } = made();
    expect(downAt(recording, 2.7).size).toBe(0);
    expect(downAt(recording, 2.85).has("h2 s1")).toBe(true);
    expect(downAt(recording, 3).size).toBe(0);
  });

  it("can be jumped to, forwards and backwards, a burst of drops at a time", () => {
    const { recording, seriesStore } = made();
    const moments = momentsOf(recording, seriesStore);
    expect(moments.map(({ kind, at_s }) => [kind, at_s])).toEqual([["drop", 1], ["change", 2.5], ["event", 2.8], ["command", 2.9], ["drop", 3]]);
    expect(nextMoment(moments, 1, 1)?.at_s).toBe(2.5);
    expect(nextMoment(moments, 2.5, -1)?.at_s).toBe(1);
    expect(nextMoment(moments, 3, 1)).toBeNull();
    expect(endOf(recording, seriesStore)).toBe(3);
  });
});
