import { afterEach, describe, expect, it, vi } from "vitest";

import { getJson } from "../api/client";
import type { FollowedPiece, PacketRow } from "../api/types";
import { nearestIn, PacketRows, PAGE, Reloader, segmentWords, toneOf } from "./capture";
import { layersOf } from "./PacketDetails";
import { hostsOf } from "./PacketList";
import { grouped } from "./StreamView";

vi.mock("../api/client", () => ({ getJson: vi.fn(), errorMessage: String }));

const ROW: PacketRow = {
  number: 7,
  time_s: 0.5,
  source: "10.0.0.1",
  target: "10.0.0.2",
  protocol: "TCP",
  length: 1514,
  captured: 128,
  info: "[retransmission] 1 → 2",
  stream: { kind: "tcp", number: 0 },
  ecn: 0,
  marks: ["retransmission"],
  tcp: { flags: 24, seq: 100, ack: 5, payload: 1448, window: 4096, window_raw: 32, source_port: 1, target_port: 2, sack: [[9, 12]], ack_rtt_s: null, in_flight: 1448 },
};

describe("a packet's description", () => {
  it("has relative sequence numbers", () => {
    expect(segmentWords(ROW)).toBe("PSH ACK 100:1548 (1448), ack 5, SACK 9:12, win 4096");
  });

  it("has the severity of its worst mark", () => {
    expect(toneOf(ROW)).toBe("bad");
    expect(toneOf({ ...ROW, marks: ["duplicate"] })).toBe("warn");
    expect(toneOf({ ...ROW, marks: [], ecn: 3 })).toBe("mark");
    expect(toneOf({ ...ROW, marks: [], ecn: 2 })).toBe("");
  });
});

it("folds a decoder's text by layers, with the bytes apart", () => {
  const { layers, bytes } = layersOf("Frame 1\n    a: 1\n        b: 2\nTCP\n    c: 3\n\n0000  01 02   ..\n");
  expect(layers).toEqual([
    { title: "Frame 1", lines: ["a: 1", "    b: 2"] },
    { title: "TCP", lines: ["c: 3"] },
  ]);
  expect(bytes).toBe("0000  01 02   ..");
});

it("joins consecutive data of one end, and shows what is missing", () => {
  const piece = (from: number, text: string, length: number): FollowedPiece => ({ number: 1, from, length, captured: text.length, text, more: false });
  const groups = grouped([piece(0, "ab", 2), piece(0, "cd", 10), piece(0, "", 100), piece(1, "x", 1)]);
  expect(groups.map(({ text }) => text)).toEqual(["abcd⟨108 bytes not captured⟩", "x"]);
});

it("has lines for the hosts with the most packets", () => {
  const pairs = ["10.0.0.10", "10.0.0.9", "a", "b", "c", "d"].flatMap((target, index) => Array.from({ length: 9 - index }, () => ({ source: "10.0.0.2", target })));
  expect(hostsOf(pairs)).toEqual(["10.0.0.2", "10.0.0.9", "10.0.0.10", "a", "others"]);
  expect(hostsOf(pairs.slice(0, 1))).toEqual(["10.0.0.2", "10.0.0.10"]);
});

it("finds the nearest of sorted times", () => {
  const times = [1, 2, 4];
  expect([0, 1.4, 1.6, 2.9, 3.1, 9].map((time) => nearestIn(times, time))).toEqual([0, 0, 1, 1, 2, 2]);
  expect(nearestIn([], 1)).toBe(-1);
});

describe("a capture that grows", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is loaded to the end each time, however often it grows, and at last in its last state", async () => {
    vi.useFakeTimers();
    let size = 0;
    const loaded: number[] = [];
    const reloader = new Reloader(async () => {
      const of = size;
      await new Promise((done) => setTimeout(done, 1000));
      loaded.push(of);
    });
    for (; size < 20; size += 1) {
      reloader.request();
      await vi.advanceTimersByTimeAsync(500);
    }
    expect(loaded.length).toBeGreaterThan(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(loaded.at(-1)).toBe(19);
    reloader.stop();
  });

  it("shows on what its earlier state had, until there is more", async () => {
    const page = (count: number) => ({ total: count, rows: Array.from({ length: Math.min(count, PAGE) }, (_, index) => ({ ...ROW, number: index + 1 })) });
    let count = 3;
    vi.mocked(getJson).mockImplementation(() => Promise.resolve(page(count)));
    const rowsAfter = (before: PacketRows | null) =>
      new Promise<PacketRows>((done, failed) => {
        const rows: PacketRows = new PacketRows("c", "", () => done(rows), failed, before);
        if (before !== null) expect([rows.total, rows.get(2)?.number]).toEqual([3, 3]);
      });
    const first = await rowsAfter(null);
    expect(first.total).toBe(3);
    count = 5;
    const second = await rowsAfter(first);
    expect([second.total, second.get(4)?.number]).toEqual([5, 5]);
  });
});
