/** A network that is drawn: the text of a study is the truth, the canvas shows and edits it. */

import type { CheckResult, CheckedStudy, ImportReport } from "../api/types";
import type { Joins } from "./history";

export interface StudyDocument {
  /** Made by the page; stays the same while the tab is open, and over a reload. */
  id: string;
  name: string;
  path: string | null;
  lab: string | null;
  text: string;
  /** What is in the file. */
  savedText: string;
  /** What was reported when it was imported; null where it was not. */
  imported: ImportReport | null;
  /** What the server said of `text`; null until it has. */
  check: CheckResult | null;
  /** The last check without problems. */
  lastGood: CheckedStudy | null;
  /** The case that Run plays; null where the study names none. */
  chosenCase: string | null;
  /** The live session that plays it. */
  sessionId: string | null;
  /** The run whose charts are shown where there is no session: its directory below the workspace. */
  shownRun: string | null;
}

export interface DocumentsState {
  documents: StudyDocument[];
  currentId: string | null;
  select: (id: string) => void;
  close: (id: string) => void;
  openFile: (path: string) => Promise<void>;
  openLab: (name: string) => Promise<void>;
  /** Resolves when it is there; `first` makes none where something is open already. */
  openNew: (options?: { first?: boolean }) => Promise<void>;
  /** Replaces the whole text: one step of undo, unless it continues the step before (typing). */
  setText: (id: string, text: string, options?: { joins?: Joins }) => void;
  undo: (id: string) => void;
  redo: (id: string) => void;
  chooseCase: (id: string, name: string | null) => void;
  setSession: (id: string, sessionId: string | null) => void;
}
