/** A lab beside its network: the text with its steps, then its cases and claims. */

import { memo, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";

import { getJson, wordsOf } from "../api/client";
import type { LabText } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { CasePicker } from "../jobs/CasePicker";
import { JobView } from "../jobs/JobView";
import { jobOf, useJobs } from "../jobs/store";
import { useUi } from "../app/ui";
import { languageQuery } from "./language";
import { LanguageSelect } from "./LanguageSelect";
import { StepBar } from "./StepBar";
import { stepsOf, type Step } from "./steps";
import "../live/dock.css";
import "../jobs/jobs.css";
import "./labs.css";

export function LabPanel({ document }: { document: StudyDocument }) {
  const { lab } = document;
  const chosen = useUi((state) => state.language);
  const [text, setText] = useState<LabText | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [steps, setSteps] = useState<Step[]>([]);
  const listen = useJobs((state) => state.listen);
  const job = useJobs((state) => jobOf(state.jobs, document));

  useEffect(listen, [listen]);

  useEffect(() => {
    if (lab === null) return undefined;
    let current = true;
    setText(null);
    setSteps([]);
    setFailure(null);
    getJson<LabText>(`/api/labs/${encodeURIComponent(lab)}?${languageQuery(chosen)}`).then(
      (found) => current && setText(found),
      (error: unknown) => current && setFailure(wordsOf(error)),
    );
    return () => {
      current = false;
    };
  }, [lab, chosen]);

  if (lab === null) return <p className="lab-note">This study is not a lab: it has no text.</p>;
  return (
    <article className="lab-panel" aria-label="Lab">
      {failure !== null && <p role="alert">The lab's text could not be read: {failure}</p>}
      {text === null && failure === null && <p role="status">Reading the lab…</p>}
      {text !== null && <LanguageSelect language={text.language} languages={text.languages} />}
      {text !== null && <h1 lang={text.language}>{text.title}</h1>}
      {text !== null && <Prose html={text.html} language={text.language} onSteps={setSteps} />}
      {steps.map((step, index) =>
        createPortal(<StepBar document={document} step={step} place={index} />, step.place, `step ${index}`),
      )}
      <section className="lab-cases" aria-label="Cases of the lab">
        <h2>Run the cases</h2>
        <p className="dim">
          Each case starts from its beginning in a machine of its own. The table and the claims fill in as they come.
        </p>
        <CasePicker document={document} job={job} />
        {job !== null && <JobView job={job} />}
      </section>
    </article>
  );
}

interface ProseProps {
  html: string;
  language: string;
  onSteps: (steps: Step[]) => void;
}

/** The text. It is drawn once for a text: places for buttons are put into it by hand. */
const Prose = memo(function Prose({ html, language, onSteps }: ProseProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    // Set here rather than by React, which would not know of the places.
    // The server has cleaned it: `longfat.studio.labs`.
    element.innerHTML = html;
    onSteps(stepsOf(element));
    return () => {
      onSteps([]);
      element.replaceChildren();
    };
  }, [html, onSteps]);
  return <div className="lab-text" lang={language} ref={place} />;
});
