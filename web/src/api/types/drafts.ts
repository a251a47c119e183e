/** Documents that are being edited: GET /api/drafts, PUT /api/drafts/ID, /ws/drafts. */

/** What was reported when a file of another format was opened. */
export interface ImportReport {
  source: string;
  /** Seconds since 1970. */
  at_s: number;
  messages: string[];
}

/** A network or study that is being drawn, as the server keeps it for all tabs. */
export interface Draft {
  id: string;
  name: string;
  text: string;
  path: string | null;
  lab: string | null;
  saved: string;
  /** The version of the file as it was read or saved last. */
  version: string | null;
  chosen_case: string | null;
  session: string | null;
  shown_run: string | null;
  imported: ImportReport | null;
  /** The most recent last. */
  undo: string[];
  redo: string[];
  /** Number of changes so far. */
  revision: number;
  opened_s: number;
  /** Null while it is open. */
  closed_s: number | null;
}

export interface Drafts {
  /** Identifies this server process: it differs after each start. */
  instance: string;
  workspace: string;
  /** The workspace's folder. */
  path: string;
  drafts: Draft[];
}

/**
 * On /ws/drafts, as JSON texts: `hello` first, then each draft that was changed or removed,
 * and the page that did it.
 */
export type DraftEvent = ({ event: "hello" } & Drafts) | { event: "draft"; page: string; draft: Draft } | { event: "forgotten"; page: string; id: string };
