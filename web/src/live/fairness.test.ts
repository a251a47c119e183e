import { expect, it } from "vitest";

import type { LiveFlow } from "../api/types";
import { jainIndex, worstFirst } from "./fairness";

function flow(name: string, metrics: Record<string, number>, state: LiveFlow["state"] = "done"): LiveFlow {
  return { name, tool: "iperf3", source: "h1", target: "h2", state, started_s: 0, ended_s: 1, command: "", words: "", metrics, results: [], advice: null };
}

it("puts failed flows first, then those that delivered least, and others last", () => {
  const flows = [flow("ping", { avg_s: 0.1 }), flow("much", { receiver_bps: 9 }), flow("little", { receiver_bps: 1 }), flow("broken", {}, "failed")];
  expect(worstFirst(flows).map(({ name }) => name)).toEqual(["broken", "little", "much", "ping"]);
});

it("is 1 of equal shares, 1/n if one flow has all, and unknown of one flow", () => {
  expect(jainIndex([5, 5, 5])).toBeCloseTo(1);
  expect(jainIndex([9, 0, 0])).toBeCloseTo(1 / 3);
  expect(jainIndex([9])).toBeNull();
  expect(jainIndex([0, 0])).toBeNull();
});
