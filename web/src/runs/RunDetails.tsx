/** Details of the chosen runs: metrics side by side, common charts, what limited flows, and losses. */

import { type ReactNode, useEffect, useState } from "react";

import { getJson, errorMessage } from "../api/client";
import type { RunDiagnosis, RunEntry, RunLoss } from "../api/types";
import { RunPanels } from "../charts/RunPanels";
import { languageQuery } from "../labs/LanguageSelect";
import { AdviceBox } from "../live/AdviceBox";
import { useBeside } from "../beside/comparison";
import { LossTable } from "./LossTable";
import { openRunAsStudy, replayRun, watchRuns } from "./actions";
import { sideBySide } from "./filter";

/** The maximum number of runs on one timeline. */
const MAX_AT_ONCE = 6;

export function RunDetails({ runs }: { runs: readonly RunEntry[] }) {
  const query = runs.map((run) => `runs=${encodeURIComponent(run.path)}`).join("&");
  const rows = sideBySide(runs);
  return (
    <aside className="run-details" aria-label="Chosen runs">
      <header>
        <h2>{runs.length === 1 ? (runs[0]?.case ?? "") : `${runs.length} runs compared`}</h2>
        <span className="run-buttons">
          {runs.length === 1 && runs[0] !== undefined && <OfOne run={runs[0]} />}
          {runs.length <= MAX_AT_ONCE && (
            <button
              type="button"
              className="small-button"
              title="The network with a timeline: the state of links, queues and flows at any moment; flows of several runs side by side"
              onClick={() => void watchRuns(runs.map(({ path }) => path))}
            >
              Timeline
            </button>
          )}
          {runs.length === 2 && (
            <button
              type="button"
              className="small-button"
              title="Two networks with one timeline: links, queues and charts of both at the same moment"
              onClick={() => useBeside.getState().show(runs.map(({ path }) => path))}
            >
              Side by side
            </button>
          )}
          <Reports runs={runs} />
          <a className="small-button" href={`/api/share?${query}&${languageQuery()}`} download title="One HTML file with these runs">
            Share as one file
          </a>
        </span>
      </header>
      {rows.length > 0 && (
        <div className="value-table" role="group" aria-label="Metrics" tabIndex={0}>
          <table className="plain-table">
            <thead>
              <tr>
                <th>Figure</th>
                {runs.map((run) => (
                  <th key={run.path} title={run.path}>
                    {labelOf(run, runs)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, texts }) => (
                <tr key={name}>
                  <td>{name}</td>
                  {texts.map((text, index) => (
                    <td key={runs[index]?.path ?? index}>{text ?? "–"}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <RunPanels runs={runs.map((run) => run.path)} />
      {runs.map((run) => (
        <Diagnosis key={run.path} run={run} label={runs.length === 1 ? "" : labelOf(run, runs)} />
      ))}
      {runs.map((run) => (
        <Losses key={run.path} run={run} label={runs.length === 1 ? "" : labelOf(run, runs)} />
      ))}
    </aside>
  );
}

/** The actions for one run. */
function OfOne({ run }: { run: RunEntry }) {
  return (
    <>
      <button
        type="button"
        className="small-button"
        title="As a study in a new tab: its network, its flows, and changes during the run as events"
        onClick={() => void openRunAsStudy(run.path)}
      >
        Open as study
      </button>
      <button
        type="button"
        className="small-button"
        title="Open it as a study, and run it in a new network"
        onClick={() => void replayRun(run.path)}
      >
        Replay
      </button>
    </>
  );
}

/** The reports of the chosen runs' studies, if they were written. */
function Reports({ runs }: { runs: readonly RunEntry[] }) {
  const there = [...new Set(runs.flatMap(({ report }) => report ?? []))];
  return there.map((url) => (
    <a key={url} className="small-button" href={url} target="_blank" rel="noreferrer">
      Open the report{there.length > 1 ? ` of ${decodeURIComponent(url.split("/").at(-2) ?? "")}` : ""}
    </a>
  ));
}

/** The shortest label that distinguishes the chosen runs. */
function labelOf(run: RunEntry, among: readonly RunEntry[]): string {
  const alike = among.filter((each) => each.case === run.case);
  const studies = new Set(among.map((each) => each.study));
  const name = studies.size > 1 ? `${run.study}: ${run.case}` : run.case;
  if (alike.length < 2) return name;
  return new Set(alike.map((each) => each.kernel)).size > 1
    ? `${name}, ${run.kernel}, seed ${run.seed}`
    : `${name}, seed ${run.seed}`;
}

/** A part of a run's details that is read when it is opened. */
function Details<T>({
  title,
  url,
  children,
}: {
  title: string;
  url: string;
  children: (list: readonly T[]) => ReactNode;
}) {
  const [found, setFound] = useState<readonly T[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [opened, setOpened] = useState(false);

  useEffect(() => {
    if (!opened) return undefined;
    let current = true;
    getJson<T[]>(url).then(
      (list) => current && setFound(list),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [opened, url]);

  return (
    <details className="diagnosis" onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>{title}</summary>
      {failure !== null && <p role="alert">{failure}</p>}
      {opened && found === null && failure === null && <p role="status">Reading the run…</p>}
      {found !== null && children(found)}
    </details>
  );
}

/** Where a run lost packets, as the kernel counted them. */
function Losses({ run, label }: { run: RunEntry; label: string }) {
  return (
    <Details<RunLoss>
      title={`Where packets were lost${label === "" ? "" : `: ${label}`}`}
      url={`/api/losses?run=${encodeURIComponent(run.path)}`}
    >
      {(losses) => <LossTable losses={losses} path={run.path} />}
    </Details>
  );
}

function Diagnosis({ run, label }: { run: RunEntry; label: string }) {
  return (
    <Details<RunDiagnosis>
      title={`What limited it${label === "" ? "" : `: ${label}`}`}
      url={`/api/diagnosis?run=${encodeURIComponent(run.path)}`}
    >
      {(found) => (
        <>
      {found.length === 0 && <p>The run has no flow that can be diagnosed.</p>}
      {found.map(({ flow, advice }) => (
        <section key={flow}>
          <h3>{flow}</h3>
          <AdviceBox advice={advice} />
        </section>
      ))}
        </>
      )}
    </Details>
  );
}
