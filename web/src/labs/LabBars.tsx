/** The button below a lab's step, which types it at its nodes, and the result. */

import { useEffect, useState } from "react";
import type { StepProgress } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDock } from "../live/dockStore";
import { ensureSession } from "../live/launch";
import { useLive } from "../live/store";
import { expectStep, noteAnswer, useProgress } from "./progress";
import { hasSameFigure } from "./questions";
import type { Question } from "./questions";
import type { Step } from "./steps";

interface StepBarProps {
  document: StudyDocument;
  step: Step;
}

export function StepBar({ document, step }: StepBarProps) {
  const [busy, setBusy] = useState(false);
  const progress = useProgress((state) => state.labs[document.lab ?? ""]?.steps[step.key]);
  const nodes = step.nodes.join(", ");

  const type = async () => {
    setBusy(true);
    useDock.getState().show("terminals");
    try {
      // By hand means without the cases' set-up: the steps are that set-up.
      const id = await ensureSession(document.id, null);
      expectStep(id, step);
      useLive.getState().send(id, { do: "type", nodes: step.nodes, text: step.text });
    } catch {
      // The clock bar shows why no network runs.
    } finally {
      setBusy(false);
    }
  };

  return (
    <>
      <button type="button" className="small-button" disabled={busy} onClick={() => void type()}>
        {busy ? "Typing…" : `Type at ${nodes}`}
      </button>
      <StepState progress={progress} count={step.nodes.length * step.lines.length} />
    </>
  );
}

function StepState({ progress, count }: { progress: StepProgress | undefined; count: number }) {
  const failed = progress?.status != null && progress.status !== 0;
  return (
    <span role="status" className={failed ? "step-done step-failed" : "step-done"}>
      {progress === undefined
        ? ""
        : progress.done
          ? "✓ done"
          : failed
            ? `✗ the last command exited with status ${progress.status}`
            : `${progress.good.length} of ${count} lines done`}
    </span>
  );
}

interface QuestionBarProps {
  lab: string;
  question: Question;
  /** How many questions the text has. */
  count: number;
}

const NONE = { text: "", right: null, shown: false };

export function QuestionBar({ lab, question, count }: QuestionBarProps) {
  const { number, answer } = question;
  const kept = useProgress((state) => state.labs[lab]?.answers[number]) ?? NONE;
  const [text, setText] = useState(kept.text);
  const [wrong, setWrong] = useState(false);
  useEffect(() => setText(kept.text), [kept.text]);

  const note = (change: Partial<typeof kept>) => noteAnswer(lab, number, { ...kept, text: text.trim().slice(0, 2000), ...change }, count);
  useEffect(() => {
    // Unfolding the answer by hand counts as having seen it, too.
    const onToggle = () => {
      const now = useProgress.getState().labs[lab]?.answers[number] ?? NONE;
      if (answer.open && !now.shown) noteAnswer(lab, number, { ...now, shown: true }, count);
    };
    answer.addEventListener("toggle", onToggle);
    return () => answer.removeEventListener("toggle", onToggle);
  }, [answer, lab, number, count]);

  const check = () => {
    const same = hasSameFigure(text, answer.textContent ?? "");
    setWrong(same === false);
    if (same === null) show();
    else note({ right: same });
  };
  const show = () => {
    answer.open = true;
    note({ shown: true });
  };

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        check();
      }}
    >
      <input
        type="text"
        value={text}
        maxLength={2000}
        placeholder="Your answer"
        aria-label={`Your answer to question ${number}`}
        onChange={(event) => {
          setText(event.target.value);
          setWrong(false);
        }}
        onBlur={() => text.trim() !== kept.text && note({ right: null })}
      />
      <button type="submit" className="small-button" disabled={text.trim() === ""}>
        Check
      </button>
      {!kept.shown && (
        <button type="button" className="small-button" onClick={show}>
          Show answer
        </button>
      )}
      {kept.shown && kept.right === null && (
        <span className="question-own">
          Was your answer right?{" "}
          <button type="button" className="small-button" onClick={() => note({ right: true })}>
            Yes
          </button>{" "}
          <button type="button" className="small-button" onClick={() => note({ right: false })}>
            No
          </button>
        </span>
      )}
      <span role="status" className={wrong ? "step-done step-failed" : "step-done"}>
        {kept.right === true ? "✓ right" : wrong ? "✗ different number or unit" : ""}
      </span>
    </form>
  );
}
