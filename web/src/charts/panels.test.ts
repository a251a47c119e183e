import { describe, expect, it } from "vitest";

import type { Recording, SeriesInfo } from "../api/types";
import { SeriesStore } from "../live/seriesStore";
import { csvOf } from "./export";
import { WHOLE } from "./figures";
import { styleIndicesOf, styleOf } from "./lineStyles";
import { panelsOf } from "./panels";

function info(kind: SeriesInfo["kind"], of: string, quantity: string, unit: SeriesInfo["unit"]): SeriesInfo {
  return { key: `${kind}:${of}:${quantity}`, kind, of, quantity, unit, label: of, limit: null };
}

const series = [
  info("queue", "s1-eth1", "backlog_bytes", "bytes"),
  info("queue", "s1-eth1", "drops", "packets"),
  info("tcp", "bulk", "throughput_bps", "bit/s"),
  info("tcp", "bulk", "rtt_s", "s"),
  info("ping", "rtt", "rtt_s", "s"),
];

function recording(number: number, of = series): Recording {
  return { number, case: null, start_s: 0, end_s: null, flows: [], series: of, marks: [], levels: [], differences: [], kept: null, label: null };
}

describe("panelsOf", () => {
  it("puts one quantity in one chart, and drops with their queue", () => {
    const panels = panelsOf([recording(1)], new Set());
    expect(panels.map(({ id }) => id)).toEqual(["throughput_bps", "rtt_s", "backlog_bytes"]);
    expect(panels[1]?.lines.map(({ of }) => of)).toEqual(["bulk", "rtt"]);
    expect(panels[2]?.lines).toMatchObject([{ of: "s1-eth1", drops: "queue:s1-eth1:drops" }]);
  });

  it("draws the selected earlier recordings behind the latest", () => {
    const panels = panelsOf([recording(1), recording(2), recording(3)], new Set([1]));
    const [throughput] = panels;
    expect(throughput?.lines.map(({ recording: number, earlier }) => [number, earlier])).toEqual([[1, true], [3, false]]);
    expect(new Set(throughput?.lines.map(({ style_index }) => style_index)).size).toBe(1);
  });

  it("has no charts before there is a recording", () => {
    expect(panelsOf([], new Set())).toEqual([]);
  });
});

describe("line styles", () => {
  it("stay with a flow when others come after it", () => {
    const before = styleIndicesOf([recording(1)]);
    const after = styleIndicesOf([recording(1), recording(2, [info("tcp", "new", "rtt_s", "s"), ...series])]);
    expect(after.flow("bulk")).toBe(before.flow("bulk"));
    expect(after.flow("new")).not.toBe(after.flow("bulk"));
    expect(after.interface("s1-eth1")).not.toBe(after.flow("bulk"));
  });

  it("begin with dashes when the colours are used up", () => {
    expect(styleOf(0)).toEqual({ colour: "var(--series-0)", dash: [] });
    expect(styleOf(7).colour).toBe("var(--series-0)");
    expect(styleOf(7).dash).not.toEqual([]);
    expect(styleOf(14).dash).not.toEqual(styleOf(7).dash);
  });
});

describe("csvOf", () => {
  it("has a row for each time of each recording, and empty cells where a line has no sample", () => {
    const seriesStore = new SeriesStore();
    const lines: [string, number[], number[]][] = [
      ["tcp:bulk:throughput_bps", [0.5, 1], [10, 20]],
      ["tcp:bulk:rtt_s", [1, 2], [0.02, 0.03]],
    ];
    for (const [key, times, values] of lines) {
      const header = new TextEncoder().encode(JSON.stringify({ recording: 1, whole: false, entries: [{ key, count: times.length }] }));
      const start = Math.ceil((4 + header.length) / 8) * 8;
      const bytes = new ArrayBuffer(start + 16 * times.length);
      new DataView(bytes).setUint32(0, header.length, true);
      new Uint8Array(bytes, 4, header.length).set(header);
      new Float64Array(bytes, start).set([...times, ...values]);
      seriesStore.take(bytes, 0);
    }
    const panels = panelsOf([recording(1)], new Set());
    expect(csvOf(panels.slice(0, 2), seriesStore, { hidden: new Set(["rtt"]), range: WHOLE })).toBe(
      "run,time_s,since_start_s,tcp:bulk:rtt_s,tcp:bulk:throughput_bps\r\n1,0.5,0.5,,10\r\n1,1,1,0.02,20\r\n1,2,2,0.03,\r\n",
    );
    // The times are those of the axis, and there are those only that are shown.
    const later = panelsOf([{ ...recording(1), start_s: 3.1 }], new Set());
    expect(csvOf(later.slice(0, 2), seriesStore, { hidden: new Set(), range: { from: 0.9, to: 1.5 } })).toBe(
      "run,time_s,since_start_s,ping:rtt:rtt_s,tcp:bulk:rtt_s,tcp:bulk:throughput_bps\r\n1,4.1,1,,0.02,20\r\n",
    );
  });
});
