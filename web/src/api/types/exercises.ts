/** A lab's exercises: /api/labs/NAME/exercises. */

export interface ExerciseFile {
  /** Below the folder of the lab. */
  file: string;
  /** Null if it is not edited as text. */
  text: string | null;
  /** Null if it does not exist yet. */
  size_bytes: number | null;
  /** Why it cannot be shown. */
  problem: string;
  /** The canvas shows it: it is the lab's study. */
  is_canvas: boolean;
  /** To be sent with what is saved; null if it does not exist yet. */
  version: string | null;
}

export interface ExercisePart {
  name: string;
  kind: "study" | "setup" | "network" | "answers" | "iperf3";
  files: ExerciseFile[];
  /** For answers: how many exist, or are required. */
  answers: { name: string; text: string; version: string | null }[];
}

export interface Exercise {
  name: string;
  title: string;
  part: string;
  points: number;
  is_question: boolean;
  /** Of a question: the unit that an answer may be in; empty for a plain number. */
  unit: string;
  hint_count: number;
}

export interface ExerciseCheck {
  /** Counts the checks of a workspace. */
  number: number;
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  exercises: string[];
  /** What it is waiting for; null if it is not queued. */
  waits: string | null;
  problem: string;
  /** As of `Exercises`. */
  counts: Record<string, CheckCount>;
}

/** The checks of an exercise, as the server counts them. */
export interface CheckCount {
  checks: number;
  /** Of a question: wrong answers since the last right one. */
  wrong: number;
  /** How long the next check has to wait, in seconds. */
  wait_s: number;
}

/** The answer to PUT of a part or an answer. */
export interface SavedInput {
  version: string | null;
  digests: Record<string, string>;
}

/** GET /api/labs/NAME/exercises, of a lab with exercises. */
export interface Exercises {
  lab: string;
  student: string;
  seed: number;
  /** The student's files, below the workspace. */
  folder: string;
  deadline: string | null;
  points: number;
  hidden_points: number;
  exercises: Exercise[];
  parts: ExercisePart[];
  /** Digests of the files that each exercise depends on. */
  digests: Record<string, string>;
  /** The last check; null if there was none since the server started. */
  check: ExerciseCheck | null;
  /** The exercises that were checked. */
  counts: Record<string, CheckCount>;
}

/** Also sent on /ws/progress. */
export type ExerciseEvent =
  | ({ event: "part"; page: string; lab: string; file: string; text: string } & SavedInput)
  | ({ event: "answer"; page: string; lab: string; question: string; text: string } & SavedInput)
  | { event: "check"; lab: string; check: ExerciseCheck };
