/** How the flows of a run shared: their order, the worst first, and Jain's fairness index. */

import type { LiveFlow } from "../api/types";

/** What a flow delivered, in bit/s; null if its tool has not reported it. */
export function deliveredBps({ metrics }: LiveFlow): number | null {
  return metrics["receiver_bps"] ?? null;
}

/** Failed flows first, then those that delivered least; flows without a throughput keep their order at the end. */
export function worstFirst(flows: readonly LiveFlow[]): LiveFlow[] {
  const rank = (flow: LiveFlow) => (flow.state === "failed" ? -1 : (deliveredBps(flow) ?? Number.MAX_VALUE));
  return [...flows].sort((one, other) => rank(one) - rank(other));
}

/** Jain's index, 1/n to 1: (sum x)^2 / (n sum x^2). Null of fewer than two values, or if all are 0. */
export function jainIndex(values: readonly number[]): number | null {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return values.length < 2 || squares === 0 ? null : (sum * sum) / (values.length * squares);
}
