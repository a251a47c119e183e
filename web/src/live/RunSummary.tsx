/** The result of a run in one line: each flow's throughput, what limited it, and a button to try the fix. */

import type { Recording } from "../api/types";
import { useDock } from "./dockStore";
import { hasFix, tryFix } from "./fix";

/** This many flows are shown; the others are in the Flows tab. */
const MAX = 2;

interface RunSummaryProps {
  documentId: string;
  recording: Recording;
  /** Whether its network is running, so that a fix can be tried. */
  alive: boolean;
}

export function RunSummary({ documentId, recording, alive }: RunSummaryProps) {
  const show = useDock((state) => state.show);
  const diagnosed = recording.flows.flatMap(({ name, advice }) => (advice === null ? [] : [{ name, advice }]));
  if (recording.end_s === null || diagnosed.length === 0) return null;
  const rest = diagnosed.length - MAX;
  return (
    <section className="answer" aria-label="Result" aria-live="polite">
      {diagnosed.slice(0, MAX).map(({ name, advice }) => (
        <p key={name}>
          <strong>{advice.answer}</strong>
          <button type="button" className="small-button" title={advice.verdict} onClick={() => show("flows")}>
            Why?
          </button>
          {alive && hasFix(advice) && (
            <button type="button" className="small-button main" title={tried(advice)} onClick={() => void tryFix(documentId, name, advice)}>
              Try the fix
            </button>
          )}
        </p>
      ))}
      <p className="answer-note">
        {rest > 0 && `${rest} more in Flows. `}
        {recording.differences.length > 0 && (
          <span title={recording.differences.join("; ")}>Measured live: {recording.differences.at(-1)}.</span>
        )}
      </p>
    </section>
  );
}

function tried({ lines, study }: Parameters<typeof hasFix>[0]): string {
  if (lines.length > 0) return `Runs again after:\n${lines.map(({ node, line }) => `${node}: ${line}`).join("\n")}`;
  return `Runs again with, in the study:\n${study.map(({ field, value }) => `${field}: ${value}`).join("\n")}`;
}
