/** The header of a lab's text, always visible: progress, Run all, and display options. */

import type { JobInfo, LabProgress, LabText } from "../api/types";
import { useUi } from "../app/ui";
import type { StudyDocument } from "../documents/model";
import { doneShare, jobStatus } from "../jobs/store";
import { useCaseRun } from "../jobs/useCaseRun";
import { LanguageSelect } from "./LanguageSelect";
import { useProgress } from "./progress";
import type { Step } from "./steps";

interface LabHeadProps {
  document: StudyDocument;
  text: LabText | null;
  steps: readonly Step[];
  questionCount: number;
  progress: LabProgress | undefined;
  job: JobInfo | null;
}

export function LabHead({ document, text, steps, questionCount, progress, job }: LabHeadProps) {
  const { reading, set } = useUi();
  const { run, starting, failure } = useCaseRun(document);
  const reset = useProgress((state) => state.reset);
  const done = steps.filter(({ key }) => progress?.steps[key]?.done === true).length;
  const claims = Object.values(progress?.claims ?? {});
  const right = Object.values(progress?.answers ?? {}).filter((answer) => answer.right === true).length;
  const runs = job?.state === "running";
  const canRun = (document.check?.study?.cases.length ?? 0) > 0;
  const begun = Object.keys(progress?.steps ?? {}).length + claims.length + Object.keys(progress?.answers ?? {}).length + Object.keys(progress?.exercises ?? {}).length > 0;
  return (
    <div className="lab-head" role="group" aria-label="Progress of the lab">
      <div className="lab-head-row">
        {steps.length > 0 && (
          <span className="lab-steps" role="status">
            <progress max={steps.length} value={done} aria-label="Steps done" />
            {done} of {steps.length} steps
            {questionCount > 0 && ` · ${right} of ${questionCount} questions`}
            {claims.length > 0 && ` · ${claims.filter((held) => held).length} of ${progress?.claim_count ?? claims.length} claims hold`}
          </span>
        )}
        <button
          type="button"
          className="small-button main"
          disabled={starting || runs || !canRun}
          title={runs ? "A job of this study is already running" : "Runs each case of the lab from the start in its own machine"}
          onClick={() => run([])}
        >
          Run all
        </button>
        {job !== null && (
          <span className="lab-job" role="status">
            <span className={`job-state job-${job.state}`}>{jobStatus(job)}</span>
            {runs && <progress max={1} value={doneShare(job)} aria-label="Progress of all cases, above the text" />}
            <button type="button" className="small-button" onClick={showResults}>
              Results
            </button>
          </span>
        )}
        <span className="lab-head-end">
          {text !== null && <LanguageSelect language={text.language} languages={text.languages} />}
          {begun && (
            <button
              type="button"
              className="small-button"
              title="Reset the progress of this lab: steps and answers"
              onClick={() => document.lab !== null && void reset(document.lab).catch(() => undefined)}
            >
              Reset progress
            </button>
          )}
          <button type="button" className="small-button lab-wide" aria-pressed={reading} onClick={() => set({ reading: !reading })}>
            {reading ? "Show the network" : "Full width"}
          </button>
        </span>
      </div>
      {failure !== null && (
        <p className="job-problem" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}

function showResults(): void {
  window.document.querySelector(".lab-cases")?.scrollIntoView({ block: "start" });
}
