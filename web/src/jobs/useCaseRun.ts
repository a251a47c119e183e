/** Runs cases of a document as a job. */

import { useState } from "react";

import { ApiError, errorMessage } from "../api/client";
import type { StudyDocument } from "../documents/model";
import { preferredLanguages } from "../labs/LanguageSelect";
import { jobName, useJobs } from "./store";

export interface CaseRun {
  /** Runs cases; all of them if none is named. */
  run: (cases: string[], seeds?: number | null) => void;
  starting: boolean;
  failure: string | null;
}

export function useCaseRun(document: StudyDocument): CaseRun {
  const start = useJobs((state) => state.start);
  const [failure, setFailure] = useState<string | null>(null);
  const [starting, setStarting] = useState(false);
  const run = (cases: string[], seeds: number | null = null) => {
    setStarting(true);
    setFailure(null);
    const { name, path, text, lab } = document;
    start({ name: jobName(name), text, path, lab, cases, seeds, languages: preferredLanguages() })
      .catch((error: unknown) => {
        const line = error instanceof ApiError ? error.problem?.line : null;
        setFailure(line ? `Line ${line}: ${errorMessage(error)}` : errorMessage(error));
      })
      .finally(() => setStarting(false));
  };
  return { run, starting, failure };
}
