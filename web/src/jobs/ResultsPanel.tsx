/** A study's results: its cases run as a job, its table and its claims. */

import { useEffect } from "react";

import type { StudyDocument } from "../documents/model";
import { CasePicker } from "./CasePicker";
import { JobView } from "./JobView";
import { jobOf, useJobs } from "./store";
import "../live/dock.css";
import "./jobs.css";

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
