/** Documents, labs, the forms' fields and the server's state. */

import type { JobInfo } from "./jobs";
import type { SessionInfo } from "./session";

export interface FileEntry {
  /** Below the workspace, with slashes. */
  path: string;
  kind: "study" | "miniedit" | "mininet" | "packetdrill";
  size_bytes: number;
  /** Seconds since 1970. */
  modified_s: number;
}

/** GET /api/document?path=... or ?lab=... */
export interface OpenedDocument {
  /** What a tab is called. */
  name: string;
  /** Where it is saved; null for a lab and for what was converted from another format. */
  path: string | null;
  lab: string | null;
  text: string;
  /** What of a MiniEdit file or Mininet script could not be carried over. */
  warnings: string[];
}

/** A language that a lab's text is there in. */
export interface TextLanguage {
  /** Such as `ru`. */
  code: string;
  /** Its own name. */
  label: string;
}

/** GET /api/labs?languages=..., the preferred language first. */
export interface LabEntry {
  name: string;
  /** The course's id, by which labs are grouped; the list is in the courses' order. */
  course: string;
  course_title: string;
  /** What the course is about; empty where nobody has said. */
  course_about: string;
  title: string;
  /** The code of the language that the title is in. */
  language: string;
  languages: TextLanguage[];
  /** It is of the class, with exercises. */
  has_exercises: boolean;
}

/** GET /api/labs/NAME?languages=... */
export interface LabText {
  name: string;
  title: string;
  /** The code of the language that it is in. */
  language: string;
  languages: TextLanguage[];
  /** Cleaned HTML; a code block that is a step is `<pre data-step="h1 h2">`, nodes by spaces. */
  html: string;
  has_exercises: boolean;
}

/** A field as the classes of the server declare it, for a form. */
export interface FieldInfo {
  /** What a study calls it. */
  key: string;
  label: string;
  /** What it means. */
  help: string;
  /** What holds without it, or an example. */
  placeholder: string;
  example: string;
  /** Such as `1 to 128`. */
  limits: string;
  form: "text" | "flag" | "list";
}

export interface Fields {
  /** Those of the network as a whole. */
  network: FieldInfo[];
  host: FieldInfo[];
  /** Those of each direction of a link. */
  direction: FieldInfo[];
  /** Those of a link as a whole. */
  link: FieldInfo[];
  /** Those of every flow. */
  flow: FieldInfo[];
  /** Those of each tool alone. */
  tools: Record<string, FieldInfo[]>;
}

/** A topology with parameters, of `GET /api/templates`. */
export interface Template {
  name: string;
  title: string;
  help: string;
  parameters: { key: string; label: string; help: string; limits: string; default: string }[];
}

/** GET /api/state */
export interface ServerState {
  fields: Fields;
  version: string;
  workspace: string;
  kernels: { series: string; release: string }[];
  labs: LabEntry[];
  sessions: SessionInfo[];
  jobs: JobInfo[];
}
