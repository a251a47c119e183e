/** All labs, as cards: a click opens one with its text beside the canvas. */

import { useEffect, useState } from "react";

import { getJson, errorMessage } from "../api/client";
import type { LabEntry } from "../api/types";
import { useUi } from "../app/ui";
import { useDocuments } from "../documents/store";
import { languageQuery, shownLanguage, LanguageSelect } from "./LanguageSelect";
import "./labs.css";

export function LabsPage() {
  const [labs, setLabs] = useState<LabEntry[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const chosen = useUi((state) => state.language);
  const openLab = useDocuments((state) => state.openLab);

  useEffect(() => {
    let current = true;
    getJson<LabEntry[]>(`/api/labs?${languageQuery(chosen)}`).then(
      (found) => current && setLabs(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [chosen]);

  const languages = [...new Map((labs ?? []).flatMap((lab) => lab.languages).map((one) => [one.code, one])).values()];
  const courses = [...new Map((labs ?? []).map((lab) => [lab.course, lab])).values()];
  return (
    <section aria-label="Labs" className="labs-page">
      <h1>Labs</h1>
      <LanguageSelect language={shownLanguage(languages)} languages={languages} />
      <p className="dim">
        Each lab is a network, instructions, and cases whose results can be checked. You can change anything: a
        lab is opened as a copy.
      </p>
      {failure !== null && <p role="alert">The labs could not be listed: {failure}</p>}
      {labs === null && failure === null && <p role="status">Loading labs…</p>}
      {labs?.length === 0 && <p>There are no labs in this installation.</p>}
      {courses.map(({ course, course_title, course_about }) => (
        <div key={course}>
          <h2>{course_title}</h2>
          {course_about !== "" && <p className="dim course-about">{course_about}</p>}
          <ul className="lab-cards">
            {labs
              ?.filter((lab) => lab.course === course)
              .map(({ name, title, language }) => (
                <li key={name}>
                  <button
                    type="button"
                    onClick={() => {
                      setFailure(null);
                      openLab(name).catch((error: unknown) => setFailure(errorMessage(error)));
                    }}
                  >
                    <span className="lab-name">{name}</span>
                    <span className="lab-title" lang={language}>
                      {title}
                    </span>
                    <span className="lab-open" aria-hidden="true">
                      Open →
                    </span>
                  </button>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
