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
  /** The name of the tab. */
  name: string;
  /** Where it is saved; null for a lab and for what was converted from another format. */
  path: string | null;
  /** The version of its file, to be sent with what is saved; null if it has none. */
  version: string | null;
  lab: string | null;
  text: string;
  /** The parts of a MiniEdit file or Mininet script that could not be converted. */
  warnings: string[];
}

/** PUT /api/document: `path`, `text`, the `version` that it is based on, and `force` to overwrite another one. */
export interface SavedDocument {
  path: string;
  version: string;
  /** What could not be converted to the file's format. */
  warnings: string[];
}

/** A language in which a lab's text is available. */
export interface TextLanguage {
  /** Such as `ru`. */
  code: string;
  /** The name in that language. */
  label: string;
}

/** GET /api/labs?languages=..., the preferred language first. */
export interface LabEntry {
  name: string;
  /** The course's id, by which labs are grouped; the list is in the courses' order. */
  course: string;
  course_title: string;
  /** The course's description; empty if it has none. */
  course_about: string;
  title: string;
  /** The code of the language that the title is in. */
  language: string;
  languages: TextLanguage[];
  /** It is a lab of the class, with exercises. */
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

/** A form field, as the server's classes declare it. */
export interface FieldInfo {
  /** Its key in a study. */
  key: string;
  label: string;
  /** What it means. */
  help: string;
  /** The default, or an example. */
  placeholder: string;
  example: string;
  /** Such as `1 to 128`. */
  limits: string;
  form: "text" | "flag" | "list";
}

export interface Fields {
  /** Fields of the network as a whole. */
  network: FieldInfo[];
  host: FieldInfo[];
  /** Fields of each direction of a link. */
  direction: FieldInfo[];
  /** Fields of a link as a whole. */
  link: FieldInfo[];
  /** Fields common to all flows. */
  flow: FieldInfo[];
  /** Fields specific to each tool. */
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
