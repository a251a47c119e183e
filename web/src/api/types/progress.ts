/** Progress in a lab: /api/labs/NAME/progress. */

export interface StepProgress {
  /** The commands that exited with status 0, by node and number, such as "h1 0". */
  good: string[];
  /** The exit status of the last command; null before the first has ended. */
  status: number | null;
  done: boolean;
}

export interface AnswerProgress {
  text: string;
  /** Whether it was right; null if the student has not marked it. */
  right: boolean | null;
  shown: boolean;
}

/** GET, PUT (what has changed) and DELETE /api/labs/{name}/progress. */
export interface LabProgress {
  lab: string;
  steps: Record<string, StepProgress>;
  step_count: number;
  claims: Record<string, boolean>;
  claim_count: number;
  answers: Record<string, AnswerProgress>;
  answer_count: number;
  /** The exercises that were checked; written only by the server. */
  exercises: Record<string, ExerciseProgress>;
  /** How often each exercise was checked, as the server counts it. */
  checks: Record<string, number>;
  changed_s: number;
}

/** The result of an exercise's last check. */
export interface ExerciseProgress {
  points: number;
  most: number;
  reasons: string[];
  /** Explanations of the mistakes found. */
  explained: string[];
  /** Digest of the answer and the files that were checked. */
  digest: string;
  /** The hints that were shown on request. */
  hints: string[];
}

/** Changes made on a page in a lab: entries to add, and new counts. */
export type ProgressChange = Partial<Omit<LabProgress, "lab" | "changed_s">>;

/** On /ws/progress, as JSON texts: `hello` with all labs first, then the changes of each page. */
export type ProgressEvent =
  | { event: "hello"; labs: Record<string, LabProgress> }
  | { event: "progress"; page: string; lab: string; change: ProgressChange }
  | { event: "forgotten"; page: string; lab: string };

/** GET /api/progress: the labs that were started, the most recent first. */
export interface ProgressSummary {
  lab: string;
  steps: number;
  step_count: number;
  claims: number;
  claim_count: number;
  answers: number;
  answer_count: number;
  /** Counts over the exercises that were checked. */
  points: number;
  most_points: number;
  checks: number;
  changed_s: number;
}
