/** How far a person is with a lab: /api/labs/NAME/progress. */

export interface StepProgress {
  /** The lines that ended with 0, by node and number, such as "h1 0". */
  good: string[];
  /** The exit status of the line that ended last; null before one has. */
  status: number | null;
  done: boolean;
}

export interface AnswerProgress {
  text: string;
  /** Whether it was right; null where nobody has said. */
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
  /** The exercises that were checked; the server alone writes them. */
  exercises: Record<string, ExerciseProgress>;
  changed_s: number;
}

/** What came of an exercise when it was checked last. */
export interface ExerciseProgress {
  points: number;
  most: number;
  reasons: string[];
  /** What the mistakes mean that were found. */
  explained: string[];
  /** Stands for the files that were checked. */
  digest: string;
  checks: number;
  /** The hints that were asked for. */
  hints: string[];
}

/** What a page has done in a lab: entries to add, and new counts. */
export type ProgressChange = Partial<Omit<LabProgress, "lab" | "changed_s">>;

/** On /ws/progress, as JSON texts: `hello` with all labs at first, then what each page does. */
export type ProgressEvent =
  | { event: "hello"; labs: Record<string, LabProgress> }
  | { event: "progress"; page: string; lab: string; change: ProgressChange }
  | { event: "forgotten"; page: string; lab: string };

/** GET /api/progress: the labs that were begun, the last one first. */
export interface ProgressSummary {
  lab: string;
  steps: number;
  step_count: number;
  claims: number;
  claim_count: number;
  answers: number;
  answer_count: number;
  /** Of the exercises that were checked. */
  points: number;
  most_points: number;
  changed_s: number;
}
