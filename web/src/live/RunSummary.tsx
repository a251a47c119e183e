/** The result of a run: each flow's throughput, what limited it, a fix to try, and how it differs from the run before. */

import type { Fix, Recording } from "../api/types";
import { costOf } from "./AdviceBox";
import { changesOf } from "./changes";
import { useDock } from "./dockStore";
import { worstFirst } from "./fairness";
import { fixOf, tryFix } from "./fix";
import { nameOf } from "./view";

/** This many flows are shown; the others are in the Flows tab. */
const MAX = 2;

interface RunSummaryProps {
  documentId: string;
  recordings: readonly Recording[];
  /** Whether its network is running, so that a fix can be tried. */
  alive: boolean;
}

export function RunSummary({ documentId, recordings, alive }: RunSummaryProps) {
  const show = useDock((state) => state.show);
  const recording = recordings.at(-1);
  if (recording === undefined) return null;
  const failed = recording.flows.filter(({ state }) => state === "failed");
  const diagnosed = worstFirst(recording.flows).flatMap(({ name, state, advice }) => (advice === null || state !== "done" ? [] : [{ name, advice }]));
  const shown = diagnosed.slice(0, Math.max(0, MAX - failed.length));
  const rest = diagnosed.length - shown.length + Math.max(0, failed.length - MAX);
  const before = recordings.at(-2);
  const changes = before === undefined || recording.end_s === null ? [] : changesOf(before, recording);
  if (failed.length + diagnosed.length + changes.length === 0) return null;
  return (
    <section className="answer" aria-label="Result" aria-live="polite">
      {failed.slice(0, MAX).map(({ name, words }) => (
        <p key={name} className="answer-failed">
          <strong>
            {name} failed: {firstLine(words)}
          </strong>
          <button type="button" className="small-button" title={words} onClick={() => show("flows")}>
            Why?
          </button>
        </p>
      ))}
      {shown.map(({ name, advice }) => {
        const fix = fixOf(advice);
        return (
          <p key={name}>
            <strong>{advice.answer}</strong>
            <button type="button" className="small-button" title={advice.verdict} onClick={() => show("flows")}>
              Why?
            </button>
            {alive && fix !== undefined && (
              <>
                <button type="button" className="small-button main" title={tried(fix)} onClick={() => void tryFix(documentId, name, fix)}>
                  Try the fix
                </button>
                {costOf(fix) !== "" && <span className="answer-cost">{costOf(fix)}</span>}
              </>
            )}
          </p>
        );
      })}
      {before !== undefined && changes.length > 0 && (
        <p className="answer-change">
          Against {nameOf(before)}: {changes.join(", ")}.
        </p>
      )}
      <p className="answer-note">
        {rest > 0 && `${rest} more in Flows. `}
        {recording.differences.length > 0 && (
          <span title={recording.differences.join("; ")}>Measured live: {recording.differences.at(-1)}.</span>
        )}
      </p>
    </section>
  );
}

function firstLine(words: string): string {
  return words.split("\n").find((line) => line.trim() !== "") ?? "see Flows";
}

function tried({ lines, study }: Fix): string {
  const parts: string[] = [];
  if (lines.length > 0) parts.push(`after:\n${lines.map(({ node, line }) => `${node}: ${line}`).join("\n")}`);
  if (study.length > 0) parts.push(`with, in the study:\n${study.map(({ field, value }) => `${field}: ${value}`).join("\n")}`);
  return `Runs again ${parts.join("\nand ")}`;
}
