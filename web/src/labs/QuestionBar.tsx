/** Below a question of a lab: a field for the student's answer, a check of its numbers, and the answer on demand. */

import { useEffect, useState } from "react";

import { noteAnswer, useProgress } from "./progress";
import { hasSameFigure, type Question } from "./questions";

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
