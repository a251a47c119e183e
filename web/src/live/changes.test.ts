import { expect, it } from "vitest";

import type { LiveFlow, Recording } from "../api/types";
import { changesOf } from "./changes";

function flow(name: string, metrics: Record<string, number>): LiveFlow {
  return { name, tool: "iperf3", source: "h1", target: "h2", state: "done", started_s: 0, ended_s: 1, command: "", words: "", metrics, results: [], advice: null };
}

function recording(flows: LiveFlow[]): Recording {
  return { number: 1, case: null, start_s: 0, end_s: 1, flows, series: [], marks: [], levels: [], differences: [], kept: null, label: null };
}

it("names what each flow got before and after, the most changed first", () => {
  const before = recording([flow("one", { receiver_bps: 2.5e6 }), flow("two", { receiver_bps: 2.2e6 }), flow("rtt", { avg_s: 0.05 })]);
  const after = recording([flow("one", { receiver_bps: 2.6e6 }), flow("two", { receiver_bps: 1.1e6 }), flow("rtt", { avg_s: 0.06 })]);
  expect(changesOf(before, after)).toEqual(["two 2.20 Mbit/s → 1.10 Mbit/s", "rtt RTT 50.0 ms → 60.0 ms", "one 2.50 Mbit/s → 2.60 Mbit/s"]);
});

it("leaves out flows that only one of the runs has measured", () => {
  expect(changesOf(recording([flow("one", {})]), recording([flow("one", { receiver_bps: 1 }), flow("two", { receiver_bps: 1 })]))).toEqual([]);
});
