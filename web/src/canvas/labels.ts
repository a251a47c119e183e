/** Labels of links and flows: properties as typed, with the units spelt out. */

import { effective } from "../documents/drawing";
import type { DrawnFlow, DrawnLink, Properties } from "../documents/drawing";
import { formatQuantity } from "../live/quantities";
import { sizeText } from "../properties/sizes";

const RATES: Record<string, string> = { "": "bit/s", k: "kbit/s", m: "Mbit/s", g: "Gbit/s", t: "Tbit/s" };

/** `10gbit` as `10 Gbit/s`; anything else is left as it is. */
export function spelt(quantity: string): string {
  const text = quantity.trim();
  const rate = /^([\d.]+)\s*([kmgt]?)bits?(?:\/s(?:ec)?)?$/i.exec(text);
  if (rate !== null) return `${rate[1] ?? ""} ${RATES[(rate[2] ?? "").toLowerCase()] ?? "bit/s"}`;
  const other = /^([\d.]+)\s*([a-z%]+)$/i.exec(text);
  return other === null ? text : `${other[1] ?? ""} ${other[2] ?? ""}`;
}

/** `26214400` as `25 MB`, human-readable; the prefixes are powers of 1024, as in a study. */
export function speltSize(quantity: string): string {
  const text = quantity.trim();
  return /^\d+$/.test(text) ? sizeText(Number(text)) : spelt(text);
}

/** The approximate width of a letter of a label, in pixels. */
const LETTER = 6;

/**
 * One line for both directions, or one for each where they differ; broken into more
 * lines where there is less room.
 */
export function linkLabel(link: DrawnLink, width: number): string[] {
  return wholeLabel(link).flatMap((line) => wrapped(line, Math.max(width, 60) / LETTER));
}

function wrapped(line: string, letters: number): string[] {
  const lines: string[] = [];
  for (const part of line.split(" · ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 3 + part.length <= letters) lines[lines.length - 1] = `${last} · ${part}`;
    else lines.push(part);
  }
  return lines;
}

function wholeLabel(link: DrawnLink): string[] {
  const [there, back] = ([0, 1] as const).map((direction) => propertiesLabel(effective(link, direction)));
  if (there === back) return there === undefined || there === "" ? [] : [there];
  return [
    ...(there ? [`to ${link.ends[1]}: ${there}`] : []),
    ...(back ? [`to ${link.ends[0]}: ${back}`] : []),
  ];
}

function propertiesLabel(properties: Properties): string {
  const { rate, trace, delay, jitter, loss, burst_loss: bursts, duplicate, corrupt, reorder, queue, qdisc } = properties;
  return [
    rate && spelt(rate),
    trace && `trace ${trace.split("/").at(-1)}`,
    delay && (jitter ? `${spelt(delay)} ± ${spelt(jitter)}` : spelt(delay)),
    loss && `loss ${spelt(loss)}`,
    bursts && `bursts of loss ${bursts}`,
    duplicate && `dup. ${spelt(duplicate)}`,
    corrupt && `corrupt ${spelt(corrupt)}`,
    reorder && `reorder ${spelt(reorder)}`,
    queue && `queue ${speltSize(queue)}`,
    qdisc && qdisc.split(/\s/)[0],
  ]
    .filter(Boolean)
    .join(" · ");
}

export function flowLabel(flow: DrawnFlow): string {
  return flow.tool === "iperf3" || flow.name.startsWith(flow.tool) ? flow.name : `${flow.name} (${flow.tool})`;
}

/** Three digits, such as `9.41 Gbit/s`. */
export function rateText(rate_bps: number): string {
  return formatQuantity(rate_bps, "bit/s");
}
