/** A lab beside its network, or across the page: the text with its steps, then its cases and claims. */

import { memo, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { errorMessage, getJson } from "../api/client";
import type { JobInfo, LabProgress, LabText } from "../api/types";
import { useUi } from "../app/ui";
import type { StudyDocument } from "../documents/model";
import { CasePicker } from "../jobs/CasePicker";
import { JobView } from "../jobs/ResultsPanel";
import { doneShare, jobOf, jobStatus, useJobs } from "../jobs/store";
import { useCaseRun } from "../jobs/useCaseRun";
import { Contents, headingsOf } from "./Contents";
import { ExercisesSection } from "./Exercises";
import { LanguageSelect, languageQuery } from "./LanguageSelect";
import { QuestionBar, StepBar } from "./LabBars";
import { emptyProgress, noteClaims, registerSteps, useProgress } from "./progress";
import { questionsOf } from "./questions";
import type { Question } from "./questions";
import { stepsOf } from "./steps";
import type { Step } from "./steps";
import "../live/dock.css";
import "../jobs/jobs.css";
import "./labs.css";

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

/** The parts of the displayed text. */
interface Shown {
  element: HTMLElement | null;
  steps: Step[];
  questions: Question[];
}

const NOTHING: Shown = { element: null, steps: [], questions: [] };

export function LabPanel({ document }: { document: StudyDocument }) {
  const { lab } = document;
  const { language: chosen, reading } = useUi();
  const [text, setText] = useState<LabText | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [{ element, steps, questions }, setShown] = useState<Shown>(NOTHING);
  const roomy = useIsRoomy();
  const listen = useJobs((state) => state.listen);
  const job = useJobs((state) => jobOf(state.jobs, document));
  const { known, labs } = useProgress();
  const begun = lab === null ? undefined : labs[lab];
  const progress = useMemo(() => begun ?? (known && lab !== null ? emptyProgress(lab) : undefined), [begun, known, lab]);
  const hear = useProgress((state) => state.listen);

  useEffect(listen, [listen]);
  useEffect(hear, [hear]);

  useEffect(() => {
    if (lab === null) return undefined;
    let current = true;
    setText(null);
    setShown(NOTHING);
    setFailure(null);
    getJson<LabText>(`/api/labs/${encodeURIComponent(lab)}?${languageQuery(chosen)}`).then(
      (found) => current && setText(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [lab, chosen]);

  useEffect(() => {
    if (lab !== null) registerSteps(lab, steps);
  }, [lab, steps]);
  useEffect(() => {
    if (lab !== null && job !== null && progress !== undefined) noteClaims(lab, job.claims);
  }, [lab, job, progress]);

  const headings = useMemo(() => (element === null ? [] : headingsOf(element, steps)), [element, steps]);

  if (lab === null) return <p className="lab-note">This study is not a lab: it has no text.</p>;
  return (
    <div className="lab" data-reading={reading}>
      <LabHead document={document} text={text} steps={steps} questionCount={questions.length} progress={progress} job={job} />
      <div className="lab-columns">
        <Contents headings={headings} progress={progress} wide={reading && roomy} />
        <article className="lab-panel" aria-label="Lab">
          {failure !== null && <p role="alert">The lab's text could not be read: {failure}</p>}
          {text === null && failure === null && <p role="status">Reading the lab…</p>}
          {text !== null && <h1 lang={text.language}>{text.title}</h1>}
          {text !== null && <Prose html={text.html} language={text.language} onShown={setShown} />}
          {steps.map((step) =>
            createPortal(<StepBar document={document} step={step} />, step.place, step.key),
          )}
          {questions.map((question) =>
            createPortal(<QuestionBar lab={lab} question={question} count={questions.length} />, question.place, `question ${question.number}`),
          )}
          {text?.has_exercises === true && <ExercisesSection document={document} lab={lab} />}
          <section className="lab-cases" aria-label="Cases of the lab">
            <h2>Run the cases</h2>
            <p className="dim">
              Each case runs from the start in its own machine. The table and the claims fill in as cases finish.
            </p>
            <CasePicker document={document} job={job} hasRunAll />
            {job !== null && <JobView job={job} />}
          </section>
        </article>
      </div>
    </div>
  );
}

/** Whether there is room beside the text. */
function useIsRoomy(): boolean {
  const [query] = useState(() => window.matchMedia("(min-width: 761px)"));
  const [roomy, setRoomy] = useState(query.matches);
  useEffect(() => {
    const look = () => setRoomy(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, [query]);
  return roomy;
}

interface ProseProps {
  html: string;
  language: string;
  onShown: (shown: Shown) => void;
}

/** The text. It is rendered once per text: placeholders for buttons are inserted into the DOM. */
const Prose = memo(function Prose({ html, language, onShown }: ProseProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    // Set here rather than by React, which would not know of the placeholders.
    // The server has cleaned it: `longfat.studio.labs`.
    element.innerHTML = html;
    onShown({ element, steps: stepsOf(element), questions: questionsOf(element) });
    return () => {
      onShown(NOTHING);
      element.replaceChildren();
    };
  }, [html, onShown]);
  return <div className="lab-text" lang={language} ref={place} />;
});
