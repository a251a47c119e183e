/**
 * The declared fields of a link's direction, for tests, and what a summary shows of each.
 * Written by python -m tools.web_types: do not edit.
 */

import type { FieldInfo } from "../api/types";

export const FIELDS: readonly FieldInfo[] = [
  {"key": "rate", "label": "Rate", "help": "the rate; the kernel counts it in bytes per second", "placeholder": "as fast as packets come", "example": "10gbit", "limits": "8bit to 1tbit", "form": "text", "phrase": "{}", "unit": "bps", "shown": "whole"},
  {"key": "delay", "label": "Delay", "help": "how long a packet travels", "placeholder": "20ms", "example": "20ms", "limits": "0s to 274s", "form": "text", "phrase": "{}", "unit": "s", "shown": "whole"},
  {"key": "jitter", "label": "Jitter", "help": "the delay's standard deviation; needs a `delay`", "placeholder": "1ms", "example": "1ms", "limits": "0s to 2147ms", "form": "text", "phrase": " ±{}", "unit": "s", "shown": "whole"},
  {"key": "loss", "label": "Loss", "help": "the share of packets that are lost", "placeholder": "0.01%", "example": "0.01%", "limits": "0% to 100%", "form": "text", "phrase": "{} lost", "unit": "fraction", "shown": "whole"},
  {"key": "burst_loss", "label": "Burst loss", "help": "losses in bursts (Gilbert-Elliott), in place of `loss`: how likely a burst begins at a packet, and ends; then the share lost within bursts (100%) and outside of them (0%)", "placeholder": "1% 25%", "example": "1% 25%", "limits": "", "form": "text", "phrase": "bursts of loss {}", "unit": "", "shown": "whole"},
  {"key": "corrupt", "label": "Corrupted", "help": "the share of packets in which one bit is wrong", "placeholder": "0.01%", "example": "0.01%", "limits": "0% to 100%", "form": "text", "phrase": "{} corrupted", "unit": "fraction", "shown": "whole"},
  {"key": "duplicate", "label": "Duplicated", "help": "the share of packets that arrive twice", "placeholder": "0.01%", "example": "0.01%", "limits": "0% to 100%", "form": "text", "phrase": "{} duplicated", "unit": "fraction", "shown": "whole"},
  {"key": "reorder", "label": "Reordered", "help": "the share of packets that are not delayed, and so overtake others; needs a `delay`", "placeholder": "0.01%", "example": "0.01%", "limits": "0% to 100%", "form": "text", "phrase": "{} reordered", "unit": "fraction", "shown": "whole"},
  {"key": "trace", "label": "Trace", "help": "what the link can send, and when, from a file beside the study (or the path of one of its `files`), in place of a `rate`: mahimahi's form, or a table of rates, delays and losses; it begins with the traffic", "placeholder": "lte.trace", "example": "lte.trace", "limits": "", "form": "text", "phrase": "trace {}", "unit": "", "shown": "name"},
  {"key": "trace_once", "label": "Trace once", "help": "the `trace` is played once: then the last row of a table holds, and nothing leaves any more by a trace of mahimahi's", "placeholder": "again and again", "example": "", "limits": "yes or no", "form": "flag", "phrase": "", "unit": "", "shown": "whole"},
  {"key": "queue", "label": "Queue", "help": "the buffer in front of the rate or trace, at least one full packet", "placeholder": "one BDP, at least 100 full packets", "example": "25MB", "limits": "0 to 4294967295 bytes", "form": "text", "phrase": "queue {}", "unit": "bytes", "shown": "whole"},
  {"key": "burst", "label": "Burst", "help": "the rate is that of a token bucket of this size (tbf): what is sent after a pause leaves at once, up to this size; at least one full packet", "placeholder": "none: a packet takes its time on the wire", "example": "25MB", "limits": "0 to 4294967295 bytes", "form": "text", "phrase": "bursts of {}", "unit": "bytes", "shown": "whole"},
  {"key": "qdisc", "label": "Queueing discipline", "help": "the discipline of the queue in tc's own words, in place of `queue`", "placeholder": "first in, first out", "example": "fq_codel", "limits": "", "form": "text", "phrase": "{}", "unit": "", "shown": "word"},
  {"key": "police", "label": "Policer", "help": "what comes to the end of the link faster than `rate`, beyond a `burst`, is dropped, as a provider does it: `{rate: 100mbit, burst: 500KB}`", "placeholder": "{rate: 100mbit, burst: 500KB}", "example": "{rate: 100mbit, burst: 500KB}", "limits": "", "form": "text", "phrase": "policed to {}", "unit": "", "shown": "whole"},
];

/** Properties as typed, each with its phrase. */
export const LABELS: readonly (readonly [Record<string, string>, string])[] = [
  [{"rate": "10gbit"}, "10 Gbit/s"],
  [{"delay": "20ms"}, "20 ms"],
  [{"jitter": "1ms"}, "±1 ms"],
  [{"loss": "0.01%"}, "0.01 % lost"],
  [{"burst_loss": "1% 25%"}, "bursts of loss 1% 25%"],
  [{"corrupt": "0.01%"}, "0.01 % corrupted"],
  [{"duplicate": "0.01%"}, "0.01 % duplicated"],
  [{"reorder": "0.01%"}, "0.01 % reordered"],
  [{"trace": "lte.trace"}, "trace lte.trace"],
  [{"queue": "25MB"}, "queue 25 MB"],
  [{"burst": "25MB"}, "bursts of 25 MB"],
  [{"qdisc": "fq_codel"}, "fq_codel"],
];
