/** Which cases to run as a job, and with how many seeds. */

import { useState } from "react";

import type { CheckedCase, JobInfo } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useCaseRun } from "./useCaseRun";

interface CasePickerProps {
  document: StudyDocument;
  /** The job that was started last. */
  job: JobInfo | null;
  /** Whether a button for all cases is in sight elsewhere. */
  hasRunAll?: boolean;
}

export function CasePicker({ document, job, hasRunAll = false }: CasePickerProps) {
  const { run, starting, failure } = useCaseRun(document);
  const [unwanted, setUnwanted] = useState<ReadonlySet<string>>(new Set());
  const [seeds, setSeeds] = useState("");
  const cases = document.check?.study?.cases ?? [];
  const wanted = cases.filter((each) => !unwanted.has(each.name));
  const seedsNumber = seeds.trim() === "" ? null : Number(seeds);
  const badSeeds = seedsNumber !== null && !(Number.isInteger(seedsNumber) && seedsNumber >= 1 && seedsNumber <= 1000);
  const busy = starting || job?.state === "running";

  if (cases.length === 0) {
    return <p className="dim">The cases can be run when the text has no problems.</p>;
  }
  return (
    <div className="case-picker">
      <table className="case-table">
        <tbody>
          {cases.map((each) => (
            <CaseLine
              key={each.name}
              one={each}
              wanted={!unwanted.has(each.name)}
              busy={busy || badSeeds}
              onWanted={(want) => {
                const next = new Set(unwanted);
                if (want) next.delete(each.name);
                else next.add(each.name);
                setUnwanted(next);
              }}
              onRun={() => run([each.name], seedsNumber)}
            />
          ))}
        </tbody>
      </table>
      <div className="tool-row">
        {!(hasRunAll && wanted.length === cases.length && seedsNumber === null) && (
          <button
            type="button"
            className="small-button main"
            disabled={busy || badSeeds || wanted.length === 0}
            title={busy ? "A job of this study is already running" : "Runs each case from the start in its own machine"}
            onClick={() => run(wanted.length === cases.length ? [] : wanted.map(({ name }) => name), seedsNumber)}
          >
            {wanted.length === cases.length && !hasRunAll ? "Run all" : `Run ${wanted.length} of ${cases.length}`}
          </button>
        )}
        <label>
          Seeds{" "}
          <input
            type="text"
            inputMode="numeric"
            size={4}
            value={seeds}
            placeholder={String(Math.max(1, ...cases.map((each) => each.seeds)))}
            aria-invalid={badSeeds}
            title={badSeeds ? "A whole number from 1 to 1000" : "How often each case is run, each time with another seed"}
            onChange={(event) => setSeeds(event.target.value)}
          />
        </label>
      </div>
      {failure !== null && (
        <p className="job-problem" role="alert">
          {failure}
        </p>
      )}
    </div>
  );
}

interface CaseLineProps {
  one: CheckedCase;
  wanted: boolean;
  busy: boolean;
  onWanted: (wanted: boolean) => void;
  onRun: () => void;
}

function CaseLine({ one, wanted, busy, onWanted, onRun }: CaseLineProps) {
  return (
    <tr>
      <td>
        <label>
          <input type="checkbox" checked={wanted} onChange={(event) => onWanted(event.target.checked)} />
          <span>
            {one.name}
            {one.title !== "" && one.title !== one.name && <span className="dim"> {one.title}</span>}
          </span>
        </label>
      </td>
      <td className="dim" title="Approximate virtual time of one run">
        {one.expected_s < 1000 ? `${Math.round(one.expected_s)} s` : `${Math.round(one.expected_s / 60)} min`}
      </td>
      <td>
        <button type="button" className="small-button" disabled={busy} aria-label={`Run case ${one.name}`} onClick={onRun}>
          Run case
        </button>
      </td>
    </tr>
  );
}
