import { expect, it } from "vitest";

import type { LinkImpairments } from "../api/types";
import { roundTrip } from "./LinkProperties";

const none = { rate_bps: null, delay_s: null } as LinkImpairments;

it("computes the RTT over both directions and the BDP of one", () => {
  const there = { ...none, rate_bps: 1e9, delay_s: 0.02 };
  expect(roundTrip({ impairments: [there, there] }, 0)).toBe("RTT 40.0 ms; BDP 4.77 MB");
  expect(roundTrip({ impairments: [there, none] }, 1)).toBe("RTT 20.0 ms; no BDP without a rate");
  expect(roundTrip({ impairments: [none, none] }, 0)).toBeNull();
});
