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
}

export interface ExercisePart {
  name: string;
  kind: "study" | "setup" | "network" | "answers" | "iperf3";
  files: ExerciseFile[];
  /** For answers: how many exist, or are required. */
  answers: { name: string; text: string }[];
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
  state: "waiting" | "running" | "done" | "failed" | "cancelled";
  exercises: string[];
  /** What it is waiting for; null if it is not queued. */
  waits: string | null;
  problem: string;
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
}

/** Also sent on /ws/progress. */
export type ExerciseEvent =
  | { event: "part"; page: string; lab: string; file: string; text: string; digests: Record<string, string> }
  | { event: "answer"; page: string; lab: string; question: string; text: string; digests: Record<string, string> }
  | { event: "check"; lab: string; check: ExerciseCheck };
