/** Which runs are listed, and in which order. */

import type { RunEntry } from "../api/types";

export type SortKey = "study" | "case" | "seed" | "kernel" | "modified_s";

export interface Sort {
  key: SortKey;
  /** Ascending, or oldest first. */
  up: boolean;
}

/** The runs that have each word of the search in their names, kernels or metrics. */
export function found(runs: readonly RunEntry[], search: string): RunEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return runs.filter((run) => {
    const text = [run.study, run.case, `seed ${run.seed}`, run.kernel, run.path, run.digest]
      .concat(run.results.map((each) => `${each.name} ${each.text}`))
      .join(" ")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The runs in order; the sort is stable. */
export function sorted(runs: readonly RunEntry[], { key, up }: Sort): RunEntry[] {
  const sign = up ? 1 : -1;
  return [...runs].sort((one, other) => {
    const a = one[key];
    const b = other[key];
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), "en", { numeric: true });
  });
}

/** The metrics of runs side by side: a row for each name that any of them has. */
export function sideBySide(runs: readonly RunEntry[]): { name: string; texts: (string | null)[] }[] {
  const names = [...new Set(runs.flatMap((run) => run.results.map((each) => each.name)))];
  return names.map((name) => ({
    name,
    texts: runs.map((run) => run.results.find((each) => each.name === name)?.text ?? null),
  }));
}
