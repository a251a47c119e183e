/** Running cases of a document as a job, and what came of asking for it. */

import { useState } from "react";

import { ApiError, wordsOf } from "../api/client";
import type { StudyDocument } from "../documents/model";
import { preferredLanguages } from "../labs/language";
import { jobName, useJobs } from "./store";

export interface CaseRun {
  /** Run cases; all of them where none is named. */
  run: (cases: string[], seeds?: number | null) => void;
  asking: boolean;
  failure: string | null;
}

export function useCaseRun(document: StudyDocument): CaseRun {
  const start = useJobs((state) => state.start);
  const [failure, setFailure] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const run = (cases: string[], seeds: number | null = null) => {
    setAsking(true);
    setFailure(null);
    const { name, path, text, lab } = document;
    start({ name: jobName(name), text, path, lab, cases, seeds, languages: preferredLanguages() })
      .catch((error: unknown) => {
        const line = error instanceof ApiError ? error.problem?.line : null;
        setFailure(line ? `Line ${line}: ${wordsOf(error)}` : wordsOf(error));
      })
      .finally(() => setAsking(false));
  };
  return { run, asking, failure };
}
