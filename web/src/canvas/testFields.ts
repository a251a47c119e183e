/** Declared fields of a link's direction, for tests. */

import type { FieldInfo } from "../api/types";

function field(key: string, phrase: string, unit: FieldInfo["unit"], shown: FieldInfo["shown"] = "whole"): FieldInfo {
  return { key, label: key, help: "", placeholder: "", example: "", limits: "", form: "text", phrase, unit, shown };
}

export const FIELDS: readonly FieldInfo[] = [
  field("rate", "{}", "bps"),
  field("delay", "{}", "s"),
  field("jitter", " ±{}", "s"),
  field("loss", "{} lost", "fraction"),
  field("trace", "trace {}", "", "name"),
  field("silent", "", ""),
  field("queue", "queue {}", "bytes"),
  field("qdisc", "{}", "", "word"),
];
