/** All runs below the workspace: list, search, compare, share. */

import { useEffect, useMemo, useState } from "react";
import { errorMessage, getJson } from "../api/client";
import type { RunEntry } from "../api/types";
import { BesideRuns } from "../beside/BesideRuns";
import { useBeside } from "../beside/comparison";
import { useLive } from "../live/store";
import { RunDetails } from "./RunDetails";
import { confirmDelete } from "./actions";
import { found, sorted } from "./filter";
import type { Sort, SortKey } from "./filter";
import "../live/dock.css";
import "./runs.css";

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

/** The maximum number of rows shown: a search finds the rest. */
const MAX_ROWS = 500;

export function RunsPage() {
  const [runs, setRuns] = useState<RunEntry[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [search, setSearch] = useState("");
  const [sort, setSort] = useState<Sort>({ key: "modified_s", up: false });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [reloads, setReloads] = useState(0);
  // A live run is saved a moment after its end.
  const kept = useLive(({ sessions }) => Object.values(sessions).flatMap(({ recordings }) => recordings.filter((one) => one.kept !== null)).length);

  useEffect(() => {
    let current = true;
    getJson<RunEntry[]>("/api/runs").then(
      (list) => {
        if (!current) return;
        setRuns(list);
        setFailure(null);
      },
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [reloads, kept]);

  const beside = useBeside((state) => state.paths);
  const listed = useMemo(() => sorted(found(runs ?? [], search), sort), [runs, search, sort]);
  const picked = useMemo(() => (runs ?? []).filter((run) => chosen.has(run.path)), [runs, chosen]);

  const clearChosen = () => {
    setChosen(new Set());
    setReloads((times) => times + 1);
  };

  if (beside !== null) return <BesideRuns paths={beside} close={() => useBeside.getState().show(null)} />;
  return (
    <section aria-label="Runs" className="runs-page">
      <header className="runs-head">
        <h1>Runs</h1>
        <input
          type="search"
          placeholder="Search: study, case, kernel, metric…"
          aria-label="Search runs"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <span className="dim" role="status">
          {runs === null ? "" : formatCount(listed.length, runs.length)}
        </span>
        <span className="grow" />
        {chosen.size > 0 && (
          <>
            <button type="button" className="small-button" onClick={() => confirmDelete([...chosen], clearChosen)}>
              Delete
            </button>
            <button type="button" className="small-button" onClick={() => setChosen(new Set())}>
              Clear selection
            </button>
          </>
        )}
        <button type="button" className="small-button" onClick={() => setReloads(reloads + 1)}>
          Refresh
        </button>
      </header>
      {failure !== null && <p role="alert">The runs could not be listed: {failure}</p>}
      {runs === null && failure === null && <p role="status">Loading runs…</p>}
      {runs?.length === 0 && (
        <p className="empty">
          No runs yet. Press <strong>Run</strong> above a network, run a study's cases under <strong>Results</strong>, or use{" "}
          <code>longfat run</code>: runs are kept in this workspace and listed here.
        </p>
      )}
      {runs !== null && runs.length > 0 && (
        <div className="runs-body" data-details={picked.length > 0}>
          <div className="runs-list">
            <RunsTable runs={listed.slice(0, MAX_ROWS)} sort={sort} onSort={setSort} chosen={chosen} onChosen={setChosen} />
            {listed.length === 0 && <p className="empty">No run matches.</p>}
            {listed.length > MAX_ROWS && <p className="dim">The first {MAX_ROWS} are shown: search for the others.</p>}
          </div>
          {picked.length > 0 && <RunDetails key={picked.map((run) => run.path).join("\n")} runs={picked} />}
        </div>
      )}
    </section>
  );
}

function formatCount(listed: number, all: number): string {
  if (listed < all) return `${listed} of ${all} runs`;
  return all === 1 ? "1 run" : `${all} runs`;
}
