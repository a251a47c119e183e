/** The flows of a recording: their results, as reported by their tools, and what limited them. */

import { Fragment, useState } from "react";

import type { LiveFlow } from "../api/types";
import { styleIndicesOf, styleOf } from "../charts/lineStyles";
import { AdviceBox } from "./AdviceBox";
import { deliveredBps, jainIndex, worstFirst } from "./fairness";
import { changeStudy } from "./fix";
import { formatClock } from "./quantities";
import { useLive } from "./store";
import { latestOf, nameOf, type SessionView } from "./view";

interface FlowsTabProps {
  documentId: string;
  view: SessionView | undefined;
}

export function FlowsTab({ documentId, view }: FlowsTabProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const latest = latestOf(view);
  const played = view?.recordings.filter((each) => each.flows.length > 0) ?? [];
  if (view === undefined || latest === null || played.length === 0) {
    return (
      <p className="empty">
        No flows have run yet. Draw a flow from host to host (<strong>F</strong>), then press <strong>Run</strong>.
      </p>
    );
  }
  const recording = played.find((each) => each.number === chosen) ?? latest;
  const fairness = jainIndex(recording.flows.flatMap((flow) => deliveredBps(flow) ?? []));
  return (
    <div className="flows">
      {played.length > 1 && (
        <label className="tool-row" style={{ paddingLeft: 0 }}>
          Recording
          <select
            value={recording.number}
            onChange={(event) => {
              const number = Number(event.target.value);
              setChosen(number === latest.number ? null : number);
            }}
          >
            {[...played].reverse().map((each) => (
              <option key={each.number} value={each.number}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      {recording.differences.length > 0 && (
        <p className="flows-note">
          Measured live. <strong>Results</strong> may differ: {recording.differences.join("; ")}.
        </p>
      )}
      {fairness !== null && (
        <p className="flows-note" title="Jain's index of what the flows delivered: 1 if all delivered the same, 1/n if one of n delivered everything">
          Fairness {fairness.toFixed(2)}, the worst flow first.
        </p>
      )}
      <table className="plain-table">
        <thead>
          <tr>
            <th>Flow</th>
            <th>From → to</th>
            <th>Tool</th>
            <th>State</th>
            <th>Started</th>
            <th style={{ width: "50%" }}>Results</th>
          </tr>
        </thead>
        <tbody>
          {worstFirst(recording.flows).map((flow) => (
            <FlowRows key={flow.name} documentId={documentId} flow={flow} view={view} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FlowRows({ documentId, flow, view }: { documentId: string; flow: LiveFlow; view: SessionView }) {
  const style = styleOf(styleIndicesOf(view.recordings).flow(flow.name));
  const started = flow.started_s === null ? "–" : formatClock(flow.started_s);
  return (
    <Fragment>
      <tr>
        <td style={{ whiteSpace: "nowrap" }}>
          <span className="flow-swatch" style={{ background: style.colour }} aria-hidden="true" />
          {flow.name}
        </td>
        <td style={{ whiteSpace: "nowrap" }}>
          {flow.source} → {flow.target}
        </td>
        <td title={flow.command}>{flow.tool}</td>
        <td>
          <span className={`flow-state flow-${flow.state}`}>{flow.state}</span>
        </td>
        <td title="Virtual time">{started}</td>
        <td>
          <div className="flow-results">
            {flow.results.map(({ name, label, text }) => (
              <span key={name} title={name}>
                <span>{label}</span> <b>{text}</b>
              </span>
            ))}
          </div>
          <code>{flow.command}</code>
        </td>
      </tr>
      {(flow.advice !== null || flow.words !== "") && (
        <tr>
          <td />
          <td colSpan={5}>
            {flow.words !== "" && <pre className="flow-words">{flow.words}</pre>}
            {flow.advice !== null && (
              <AdviceBox
                advice={flow.advice}
                onStudy={(fields) => changeStudy(documentId, flow.name, fields)}
                {...(view.link === "open" && {
                  onType: (typings) => {
                    const { send } = useLive.getState();
                    for (const { nodes, text } of typings) send(view.id, { do: "type", nodes, text });
                  },
                })}
              />
            )}
          </td>
        </tr>
      )}
    </Fragment>
  );
}
