/** What the flows of a run got, against the run before. */

import type { LiveFlow, Recording } from "../api/types";
import { formatQuantity, type Unit } from "./quantities";

/** This many flows are compared; the first that changed come first. */
const MAX = 4;
/** The metric that is compared, by its name; the first that both runs have. */
const METRICS: { name: string; unit: Unit; label: string }[] = [
  { name: "receiver_bps", unit: "bit/s", label: "" },
  { name: "avg_s", unit: "s", label: " RTT" },
];

/** A phrase for each flow that both runs have measured, such as `bulk 9.5 Mbit/s → 4.7 Mbit/s`; most changed first. */
export function changesOf(before: Recording, after: Recording): string[] {
  const found = after.flows.flatMap((flow) => {
    const earlier = before.flows.find(({ name }) => name === flow.name);
    const change = earlier === undefined ? null : changeOf(earlier, flow);
    return change === null ? [] : [change];
  });
  return found
    .sort((one, other) => other.factor - one.factor)
    .slice(0, MAX)
    .map(({ text }) => text);
}

function changeOf(before: LiveFlow, after: LiveFlow): { text: string; factor: number } | null {
  for (const { name, unit, label } of METRICS) {
    const [was, is] = [before.metrics[name], after.metrics[name]];
    if (was === undefined || is === undefined || was <= 0 || is <= 0) continue;
    return { text: `${after.name}${label} ${formatQuantity(was, unit)} → ${formatQuantity(is, unit)}`, factor: Math.abs(Math.log(is / was)) };
  }
  return null;
}
