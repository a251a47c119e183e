/** The list of runs: sorted by a click on a column header, selected by check boxes. */

import type { RunEntry } from "../api/types";
import type { Sort, SortKey } from "./filter";

const COLUMNS: { key: SortKey; label: string }[] = [
  { key: "study", label: "Study" },
  { key: "case", label: "Case" },
  { key: "seed", label: "Seed" },
  { key: "kernel", label: "Kernel" },
  { key: "modified_s", label: "When" },
];

interface RunsTableProps {
  runs: readonly RunEntry[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
}

export function RunsTable({ runs, sort, onSort, chosen, onChosen }: RunsTableProps) {
  const toggle = (path: string) => {
    const next = new Set(chosen);
    if (!next.delete(path)) next.add(path);
    onChosen(next);
  };
  return (
    <table className="plain-table runs-table">
      <thead>
        <tr>
          <th>
            <span className="unseen">Choose</span>
          </th>
          {COLUMNS.map(({ key, label }) => (
            <th key={key} aria-sort={sort.key === key ? (sort.up ? "ascending" : "descending") : "none"}>
              <button type="button" onClick={() => onSort({ key, up: sort.key === key ? !sort.up : key !== "modified_s" })}>
                {label}
                <span aria-hidden="true">{sort.key === key ? (sort.up ? " ▴" : " ▾") : ""}</span>
              </button>
            </th>
          ))}
          <th>Figures</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={run.path} data-chosen={chosen.has(run.path)} onClick={() => toggle(run.path)}>
            <td>
              <input
                type="checkbox"
                aria-label={`Choose ${run.study}, ${run.case}, seed ${run.seed}`}
                checked={chosen.has(run.path)}
                onClick={(event) => event.stopPropagation()}
                onChange={() => toggle(run.path)}
              />
            </td>
            <td>{run.study}</td>
            <td>{run.case}</td>
            <td>{run.seed}</td>
            <td>{run.kernel}</td>
            <td title={`${run.path}, ${run.digest}`}>{formatDate(run.modified_s)}</td>
            <td>
              <span className="flow-results">
                {run.results.map(({ name, text }) => (
                  <span key={name}>
                    <span>{name}</span> <b>{text}</b>
                  </span>
                ))}
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function formatDate(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}
