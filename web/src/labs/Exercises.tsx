/** The exercises below a lab's text: each part with an editor, its exercises, and the results of checks. */

import { useEffect, useState, type ReactNode } from "react";

import { errorMessage } from "../api/client";
import type { Exercise, ExerciseFile, ExercisePart, ExerciseProgress, Exercises } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { isUnsaved } from "../documents/store";
import { saveTo } from "../files/actions";
import { answerOf, isOver, keyOf, submissionUrl, useExercises, type InputKind } from "./exercises";
import { useProgress } from "./progress";

const KINDS: Record<ExercisePart["kind"], string> = {
  study: "a study",
  setup: "set-up lines",
  network: "a network",
  answers: "answers, each with its unit",
  iperf3: "reports of iperf3 -J",
};

/** The state of an exercise that was never checked. */
const NO_PROGRESS: Record<string, ExerciseProgress> = {};

export function ExercisesSection({ document, lab }: { document: StudyDocument; lab: string }) {
  const exercises = useExercises((state) => state.labs[lab]);
  const { load, check, cancel } = useExercises.getState();
  const results = useProgress((state) => state.labs[lab]?.exercises) ?? NO_PROGRESS;
  const [failure, setFailure] = useState<string | null>(null);

  // The saved state of the study counts, also for deciding whether a check is up to date.
  useEffect(() => {
    load(lab).catch((error: unknown) => setFailure(errorMessage(error)));
  }, [lab, load, document.savedText]);

  if (exercises === undefined) return failure === null ? null : <p role="alert">The exercises could not be read: {failure}</p>;
  const isChecking = !isOver(exercises.check);
  const earned = exercises.exercises.reduce((sum, { name }) => sum + (results[name]?.points ?? 0), 0);

  const run = async (names: string[]) => {
    setFailure(null);
    try {
      const { path } = document;
      if (path !== null && isUnsaved(document) && !(await saveTo(document.id, path))) return;
      await check(lab, names);
    } catch (error) {
      setFailure(errorMessage(error));
    }
  };

  return (
    <section className="lab-exercises" aria-label="Exercises">
      <h2>Exercises</h2>
      <p>
        <strong>
          {earned} of {exercises.points} points
        </strong>{" "}
        by the last checks.
        {exercises.hidden_points > 0 && ` ${pointsOf(exercises.hidden_points)} of these can be earned only when it is graded.`}
        {exercises.deadline !== null && ` Due ${exercises.deadline.replace("T", " ")}.`} Your seed is <code>{exercises.seed}</code>. What
        you fill in is kept in <code>{exercises.folder}/</code>.
      </p>
      <div className="exercise-row">
        <button type="button" className="small-button main" disabled={isChecking} onClick={() => void run([])}>
          Check all
        </button>
        {isChecking && (
          <button type="button" className="small-button" onClick={() => void cancel(lab).catch(() => undefined)}>
            Cancel
          </button>
        )}
        <a className="small-button" href={submissionUrl(lab)} download>
          Download submission
        </a>
        <span role="status">{checkStatus(exercises)}</span>
      </div>
      {failure !== null && <p role="alert" className="exercise-failure">{failure}</p>}
      {exercises.check?.state === "failed" && <p role="alert" className="exercise-failure">{exercises.check.problem}</p>}
      {exercises.parts.map((part) => (
        <PartBox key={part.name} document={document} exercises={exercises} part={part} results={results} isChecking={isChecking} onCheck={run} />
      ))}
    </section>
  );
}

function checkStatus({ check, exercises }: Exercises): string {
  if (check === null || isOver(check)) return check?.state === "cancelled" ? "Cancelled" : "";
  const one = check.exercises.length === 1 ? exercises.find(({ name }) => name === check.exercises[0])?.title : undefined;
  return check.waits ?? `Checking ${one ?? "the exercises"}…`;
}

/** Formats text between backticks as code. */
function withCode(text: string): ReactNode[] {
  const pieces = text.split("`");
  return pieces.map((piece, index) => (index % 2 === 1 && index < pieces.length - 1 ? <code key={index}>{piece}</code> : piece));
}

function pointsOf(points: number): string {
  return `${points} ${points === 1 ? "point" : "points"}`;
}

interface PartBoxProps {
  document: StudyDocument;
  exercises: Exercises;
  part: ExercisePart;
  results: Record<string, ExerciseProgress>;
  isChecking: boolean;
  onCheck: (names: string[]) => Promise<void>;
}

function PartBox({ document, exercises, part, results, isChecking, onCheck }: PartBoxProps) {
  const own = exercises.exercises.filter((one) => one.part === part.name);
  const others = part.answers.filter(({ name }) => !own.some((one) => one.name === name));
  return (
    <div className="exercise-part" role="group" aria-label={`Part ${part.name}`}>
      <p className="exercise-files">
        {part.files.map(({ file }) => (
          <code key={file}>{file}</code>
        ))}{" "}
        <span className="dim">{KINDS[part.kind]}</span>
      </p>
      {part.kind !== "answers" && part.files.map((file) => <FilePlace key={file.file} document={document} lab={exercises.lab} file={file} />)}
      <ul>
        {own.map((exercise) => (
          <ExerciseItem key={exercise.name} exercises={exercises} exercise={exercise} result={results[exercise.name]} isChecking={isChecking} onCheck={onCheck} />
        ))}
        {others.map(({ name }) => (
          <li key={name}>
            <div className="exercise-row">
              <span className="exercise-title">{name}</span>
              <AnswerField exercises={exercises} question={name} title={name} unit="" />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

const MIN_ROWS = 4;
const MAX_ROWS = 24;

/** The editor of a file. */
function FilePlace({ document, lab, file }: { document: StudyDocument; lab: string; file: ExerciseFile }) {
  const { setPart } = useExercises.getState();
  if (file.is_canvas) {
    return (
      <p className="dim">
        This file is the drawn network; its text is under <strong>YAML</strong>. {isUnsaved(document) ? "It has unsaved changes; a check saves it first." : "It is saved."}
      </p>
    );
  }
  if (file.problem !== "") return <p role="alert">{file.problem}</p>;
  if (file.text === null) {
    const take = async (chosen: File | undefined) => chosen && setPart(lab, file.file, await chosen.text());
    return (
      <>
        <p className="exercise-row">
          <label>
            {file.file}: <input type="file" accept=".json,application/json" onChange={(event) => void take(event.target.files?.[0])} />
          </label>
          <span className="dim">{file.size_bytes === null ? "not uploaded yet" : `${file.size_bytes} bytes uploaded`}</span>
        </p>
        <ConflictBox lab={lab} kind="part" name={file.file} />
      </>
    );
  }
  return (
    <>
      <textarea
        aria-label={file.file}
        value={file.text}
        rows={Math.max(MIN_ROWS, Math.min(MAX_ROWS, file.text.split("\n").length))}
        spellCheck={false}
        autoCapitalize="off"
        wrap="off"
        onChange={(event) => setPart(lab, file.file, event.target.value)}
      />
      <ConflictBox lab={lab} kind="part" name={file.file} />
    </>
  );
}

/** What to do with input that is based on another version than the one that is saved. */
function ConflictBox({ lab, kind, name }: { lab: string; kind: InputKind; name: string }) {
  const conflict = useExercises((state) => state.conflicts[keyOf(lab, kind, name)]);
  const [failure, setFailure] = useState<string | null>(null);
  if (conflict === undefined) return null;
  const choose = (choice: "overwrite" | "discard") =>
    void useExercises.getState().resolve(conflict, choice).catch((error: unknown) => setFailure(errorMessage(error)));
  return (
    <div role="alert" className="exercise-row exercise-conflict">
      <span>{failure ?? `${kind === "part" ? name : "This answer"} was changed by another program or page. What you see here is not saved.`}</span>
      <button type="button" className="small-button" onClick={() => choose("overwrite")}>
        Overwrite
      </button>
      <button type="button" className="small-button" onClick={() => choose("discard")}>
        Show what is saved
      </button>
    </div>
  );
}

interface AnswerFieldProps {
  exercises: Exercises;
  question: string;
  title: string;
  unit: string;
}

function AnswerField({ exercises, question, title, unit }: AnswerFieldProps) {
  return (
    <input
      type="text"
      aria-label={`Answer: ${title}`}
      value={answerOf(exercises, question)}
      maxLength={200}
      placeholder={unit === "" ? "Your answer" : `Such as 12.3 ${unit}`}
      onChange={(event) => useExercises.getState().setAnswer(exercises.lab, question, event.target.value)}
    />
  );
}

/** The whole seconds until a time, in milliseconds since 1970; 0 once it has passed. */
function useSecondsUntil(time: number): number {
  const [now, setNow] = useState(Date.now);
  const left = Math.max(0, Math.ceil((time - now) / 1000));
  useEffect(() => {
    setNow(Date.now());
    const ticking = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= time) clearInterval(ticking);
    }, 500);
    return () => clearInterval(ticking);
  }, [time]);
  return left;
}

function durationOf(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

interface ExerciseItemProps {
  exercises: Exercises;
  exercise: Exercise;
  result: ExerciseProgress | undefined;
  isChecking: boolean;
  onCheck: (names: string[]) => Promise<void>;
}

function ExerciseItem({ exercises, exercise, result, isChecking, onCheck }: ExerciseItemProps) {
  const { name, title, points, unit, is_question: isQuestion, hint_count: hintCount } = exercise;
  const isFull = result !== undefined && result.reasons.length === 0;
  const isOld = result !== undefined && result.digest !== exercises.digests[name];
  const given = result?.hints.length ?? 0;
  const canHint = result !== undefined && !isFull && given < hintCount;
  const waitS = useSecondsUntil(useExercises((state) => state.nextChecks[exercises.lab]?.[name]) ?? 0);
  const [failure, setFailure] = useState<string | null>(null);
  const showHint = () => void useExercises.getState().hint(exercises.lab, name).catch((error: unknown) => setFailure(errorMessage(error)));
  return (
    <li aria-label={title}>
      <div className="exercise-row">
        <span className="exercise-title">{title}</span>
        <span role="status" className={`exercise-points ${result === undefined || isOld ? "" : isFull ? "exercise-full" : "exercise-lost"}`}>
          {result === undefined ? pointsOf(points) : `${isFull ? "✓" : "✗"} ${result.points} of ${pointsOf(points)}`}
        </span>
      </div>
      <div className="exercise-row">
        {isQuestion && <AnswerField exercises={exercises} question={name} title={title} unit={unit} />}
        <button type="button" className="small-button" disabled={isChecking || waitS > 0} aria-label={`Check: ${title}`} onClick={() => void onCheck([name])}>
          Check
        </button>
        {canHint && (
          <button type="button" className="small-button" aria-label={`Hint: ${title}`} onClick={showHint}>
            {hintCount === 1 ? "Hint" : `Hint ${given + 1} of ${hintCount}`}
          </button>
        )}
        {isOld && <span className="dim">changed since the check</span>}
        {waitS > 0 && <span className="dim exercise-wait">Next check in {durationOf(waitS)}</span>}
      </div>
      {isQuestion && <ConflictBox lab={exercises.lab} kind="answer" name={name} />}
      {failure !== null && <p role="alert">{failure}</p>}
      {result !== undefined && !isFull && (
        <div className="exercise-result">
          {result.reasons.map((reason) => (
            <p key={reason}>{withCode(reason)}</p>
          ))}
          {result.explained.map((words) => (
            <details key={words}>
              <summary>Explanation</summary>
              <p>{withCode(words)}</p>
            </details>
          ))}
          {result.hints.map((hint) => (
            <p key={hint} className="exercise-hint">
              <strong>Hint:</strong> {withCode(hint)}
            </p>
          ))}
        </div>
      )}
    </li>
  );
}
