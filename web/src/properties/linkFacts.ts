/** What a link's rate and delay amount to. */

import type { CheckedLink } from "../api/types";
import { tellQuantity } from "../live/quantities";

/** Round-trip time over the link, and how much it holds in one direction; null without any delay. */
export function roundTrip({ shapes }: Pick<CheckedLink, "shapes">, direction: 0 | 1): string | null {
  const rtt_s = (shapes[0].delay_s ?? 0) + (shapes[1].delay_s ?? 0);
  if (rtt_s === 0) return null;
  const { rate_bps } = shapes[direction];
  const words = `RTT ${tellQuantity(rtt_s, "s")} there and back`;
  return rate_bps === null ? `${words}; no BDP without a rate` : `${words}; BDP ${tellQuantity((rate_bps * rtt_s) / 8, "bytes")}`;
}
