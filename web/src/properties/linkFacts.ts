/** Quantities derived from a link's rate and delay. */

import type { CheckedLink } from "../api/types";
import { formatQuantity } from "../live/quantities";

/** Round-trip time and bandwidth-delay product of the link; null without any delay. */
export function roundTrip({ impairments }: Pick<CheckedLink, "impairments">, direction: 0 | 1): string | null {
  const rtt_s = (impairments[0].delay_s ?? 0) + (impairments[1].delay_s ?? 0);
  if (rtt_s === 0) return null;
  const { rate_bps } = impairments[direction];
  const words = `RTT ${formatQuantity(rtt_s, "s")}`;
  return rate_bps === null ? `${words}; no BDP without a rate` : `${words}; BDP ${formatQuantity((rate_bps * rtt_s) / 8, "bytes")}`;
}
