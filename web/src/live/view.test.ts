import { describe, expect, it } from "vitest";

import type { LiveFlow, Recording, SessionEvent } from "../api/types";
import { activityOf } from "./activity";
import { SeriesStore } from "./seriesStore";
import { isGoingOn, latestOf, nameOf, newView, reduce, withMessage } from "./view";

function flow(state: LiveFlow["state"]): LiveFlow {
  const base = { name: "bulk", tool: "iperf3", source: "h1", target: "h2", started_s: null, ended_s: null };
  return { ...base, state, command: "", words: "", metrics: {}, results: [], advice: null };
}

function recording(number: number, change: Partial<Recording> = {}): Recording {
  return { number, case: null, start_s: 1, end_s: null, flows: [], series: [], marks: [], levels: [], differences: [], kept: null, label: null, ...change };
}

const state: SessionEvent = {
  event: "state",
  session: { id: "1", name: "lab08", kernel: "6.1", seed: 1, case: null, nodes: [] },
  clock: { now_s: 1, state: "idle", speed: 0, pace: null, commands: 0, skipping: false },
  recordings: [recording(0)],
  terminals: [],
  captures: [],
  stale: [],
};

describe("reduce", () => {
  it("takes over the whole state, and then each change", () => {
    let view = reduce(newView("1", new SeriesStore()), state);
    expect(view.link).toBe("open");
    view = reduce(view, { event: "clock", now_s: 2, state: "running", speed: 3, pace: 0.5, commands: 0, skipping: false });
    expect(view.clock).toEqual({ now_s: 2, state: "running", speed: 3, pace: 0.5, commands: 0, skipping: false });
    view = reduce(view, { event: "recording", recording: recording(2, { flows: [flow("running")] }) });
    view = reduce(view, { event: "recording", recording: recording(1) });
    expect(view.recordings.map(({ number }) => number)).toEqual([0, 1, 2]);
    view = reduce(view, { event: "recording", recording: recording(2, { end_s: 9, flows: [flow("done")] }) });
    expect(view.recordings).toHaveLength(3);
    expect(latestOf(view)?.end_s).toBe(9);
  });

  it("keeps the seriesStore and messages over a reconnection", () => {
    const first = reduce(newView("1", new SeriesStore()), state);
    const told = withMessage(first, { level: "info", text: "a", about: "" });
    const again = reduce({ ...told, link: "lost" }, state);
    expect(again.seriesStore).toBe(first.seriesStore);
    expect(again.messages).toHaveLength(1);
    expect(again.link).toBe("open");
  });

  it("counts repeated messages, and numbers others", () => {
    let view = reduce(newView("1", new SeriesStore()), state);
    const said = { level: "error", text: "no", about: "run" } as const;
    view = withMessage(withMessage(view, said), said);
    expect(view.messages).toMatchObject([{ number: 1, times: 2, at_s: 1 }]);
    view = withMessage(view, { ...said, text: "other" });
    expect(view.messages.map(({ number }) => number)).toEqual([1, 2]);
  });

  it("ends with the server's message", () => {
    const view = reduce(newView("1", new SeriesStore()), { event: "ended", words: "the machine died" });
    expect(view).toMatchObject({ link: "ended", ended: "the machine died" });
  });
});

describe("recordings", () => {
  it("go on while a flow waits or runs; one without flows does not", () => {
    expect(isGoingOn(null)).toBe(false);
    expect(isGoingOn(recording(0))).toBe(false);
    expect(isGoingOn(recording(1, { flows: [flow("done"), flow("waiting")] }))).toBe(true);
    expect(isGoingOn(recording(1, { flows: [flow("done"), flow("failed")] }))).toBe(false);
  });

  it("have names", () => {
    expect(nameOf(recording(0))).toBe("before the first run");
    expect(nameOf(recording(2, { case: "red" }))).toBe("run 2, red");
    expect(nameOf(recording(2))).toBe("run 2");
  });
});

it("returns the last samples of each interface as its activity", () => {
  const info = { kind: "queue", of: "s1-eth1", label: "", limit: 1000 } as const;
  const series: Recording["series"] = [
    { ...info, key: "queue:s1-eth1:backlog_bytes", quantity: "backlog_bytes", unit: "bytes" },
    { ...info, key: "rate:s1-eth1:tx_bps", kind: "rate", quantity: "tx_bps", unit: "bit/s", limit: null },
    { ...info, key: "tcp:bulk:rtt_s", kind: "tcp", of: "bulk", quantity: "rtt_s", unit: "s", limit: null },
  ];
  const view = { ...newView("1", new SeriesStore()), recordings: [recording(1, { series })] };
  expect([...activityOf(view, 0)]).toEqual([
    ["s1-eth1", { tx_bps: 0, rate_bps: null, backlog_bytes: 0, limit_bytes: 1000, recent_drops: 0 }],
  ]);
});
