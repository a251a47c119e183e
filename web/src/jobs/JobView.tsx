/** A job: the progress of its cases, their results, its claims and its report. */

import { useState } from "react";

import { errorMessage } from "../api/client";
import type { JobCase, JobInfo } from "../api/types";
import { RunPanels } from "../charts/RunPanels";
import { Claims } from "./Claims";
import { doneShare, useJobs, jobStatus } from "./store";
import { ValueTable } from "./ValueTable";

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
