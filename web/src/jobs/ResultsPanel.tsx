/** A study's results: its cases run as a job, its table and its claims. */

import { Fragment, useEffect, useState } from "react";
import { errorMessage } from "../api/client";
import type { ClaimRow, JobCase, JobInfo, Table } from "../api/types";
import { RunPanels } from "../charts/RunPanels";
import type { StudyDocument } from "../documents/model";
import { CasePicker } from "./CasePicker";
import { doneShare, jobOf, jobStatus, useJobs } from "./store";
import "../live/dock.css";
import "./jobs.css";

export function Claims({ claims }: { claims: readonly ClaimRow[] }) {
  const held = claims.filter((claim) => claim.holds === true).length;
  const known = claims.filter((claim) => claim.holds !== null).length;
  return (
    <section aria-label="Claims">
      <h2>
        Claims{" "}
        <span className="dim">
          {held} of {claims.length} hold{known < claims.length ? `, ${claims.length - known} not evaluated yet` : ""}
        </span>
      </h2>
      <ul className="claims">
        {claims.map((claim) => (
          <li key={`${claim.text} ${claim.expression}`} className={markOf(claim).name} title={claim.expression}>
            <span className="claim-mark" role="img" aria-label={markOf(claim).words}>
              {markOf(claim).sign}
            </span>
            <span>
              {claim.text}
              {claim.detail !== "" && <span className="dim"> {claim.detail}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function markOf({ holds }: ClaimRow): { name: string; sign: string; words: string } {
  if (holds === null) return { name: "claim-open", sign: "·", words: "not evaluated yet" };
  return holds ? { name: "claim-holds", sign: "✓", words: "holds" } : { name: "claim-fails", sign: "✗", words: "fails" };
}

export function ValueTable({ caption, table }: { caption: string; table: Table }) {
  const width = table.columns.length;
  return (
    <section aria-label={caption}>
      <h2>{caption}</h2>
      <div className="value-table" role="group" aria-label={caption} tabIndex={0}>
        <table className="plain-table">
          <thead>
            <tr>
              {table.columns.map((column, index) =>
                column === "" ? (
                  <td key={index} />
                ) : (
                  <th key={`${index} ${column}`} scope="col">
                    {column}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <Fragment key={`${row.group} ${row.cells.join(" ")}`}>
                {row.group !== "" && row.group !== table.rows[index - 1]?.group && (
                  <tr className="value-group">
                    <th colSpan={width} scope="rowgroup">
                      {row.group}
                    </th>
                  </tr>
                )}
                <tr>
                  {row.cells.map((cell, column) => (
                    <td key={table.columns[column] ?? column}>{cell}</td>
                  ))}
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function JobView({ job }: { job: JobInfo }) {
  const [curves, setCurves] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const cancel = useJobs((state) => state.cancel);
  const runs = job.cases.flatMap((one) => one.runs);
  return (
    <div className="job">
      <p className="job-head" role="status">
        <span className={`job-state job-${job.state}`}>{jobStatus(job)}</span>
        {job.state === "running" && (
          <>
            <progress max={1} value={doneShare(job)} aria-label="Progress of all cases" />
            <button type="button" className="small-button" onClick={() => void cancel(job.id).catch((error: unknown) => setFailure(errorMessage(error)))}>
              Cancel
            </button>
          </>
        )}
        {job.report !== null && (
          <a className="small-button job-report" href={job.report} target="_blank" rel="noreferrer">
            Open the report
          </a>
        )}
      </p>
      {failure !== null && <p role="alert">{failure}</p>}
      {job.problem !== null && (
        <p className="job-problem" role="alert">
          {job.problem.line !== null && <strong>Line {job.problem.line}: </strong>}
          {job.problem.message}
        </p>
      )}
      <ul className="job-cases">
        {job.cases.map((one) => (
          <CaseRow key={one.name} one={one} over={job.state !== "running"} />
        ))}
      </ul>
      {job.claims.length > 0 && <Claims claims={job.claims} />}
      {job.measured !== null && <ValueTable caption="Measured" table={job.measured} />}
      {job.published !== null && <ValueTable caption="Compared with published values" table={job.published} />}
      {runs.length > 0 && (
        <p>
          <button type="button" className="small-button" aria-expanded={curves} onClick={() => setCurves(!curves)}>
            {curves ? "Hide curves" : "Show curves"}
          </button>
        </p>
      )}
      {curves && runs.length > 0 && <RunPanels runs={runs} />}
    </div>
  );
}

const CASE_WORDS: Record<JobCase["state"], string> = {
  waiting: "waits",
  running: "runs",
  done: "done",
  failed: "failed",
  known: "was known",
};

function CaseRow({ one, over }: { one: JobCase; over: boolean }) {
  const share = one.expected_s > 0 ? Math.min(1, one.virtual_s / (one.expected_s * Math.max(1, one.seeds))) : 0;
  return (
    <li>
      <span className="job-case-name" title={one.title}>
        {one.name}
      </span>
      <progress max={1} value={one.state === "done" || one.state === "known" ? 1 : share} aria-label={`Progress of ${one.name}`} />
      <span className={`job-case-state job-${one.state}`}>
        {over && (one.state === "waiting" || one.state === "running") ? "not done" : CASE_WORDS[one.state]}
        {one.seeds > 1 && ` ${one.seeds_done}/${one.seeds}`}
      </span>
    </li>
  );
}

export function ResultsPanel({ document }: { document: StudyDocument }) {
  const listen = useJobs((state) => state.listen);
  const job = useJobs((state) => jobOf(state.jobs, document));
  useEffect(listen, [listen]);

  return (
    <section className="results" aria-label="Results">
      <p className="dim">
        Cases run here from the start, each in its own machine, and their results are kept. They do not affect the
        network that Run plays.
      </p>
      <CasePicker document={document} job={job} />
      {job !== null && <JobView job={job} />}
    </section>
  );
}
