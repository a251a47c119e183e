import { expect, it } from "vitest";

import type { Shape } from "../api/types";
import { roundTrip } from "./linkFacts";

const shape: Shape = { rate_bps: null, delay_s: null, jitter_s: null, loss: null, duplicate: null, corrupt: null, reorder: null, queue_bytes: null, qdisc: null };

it("computes the RTT over both directions and the BDP of one", () => {
  const there = { ...shape, rate_bps: 1e9, delay_s: 0.02 };
  expect(roundTrip({ shapes: [there, there] }, 0)).toBe("RTT 40.0 ms; BDP 4.77 MB");
  expect(roundTrip({ shapes: [there, shape] }, 1)).toBe("RTT 20.0 ms; no BDP without a rate");
  expect(roundTrip({ shapes: [shape, shape] }, 0)).toBeNull();
});
