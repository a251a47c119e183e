import { describe, expect, it } from "vitest";

import type { FollowedPiece, PacketRow } from "../api/types";
import { nearestIn, segmentWords, toneOf } from "./capture";
import { layersOf } from "./PacketDetails";
import { hostsOf } from "./PacketList";
import { grouped } from "./StreamView";

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
