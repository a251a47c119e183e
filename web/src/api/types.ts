/**
 * The values that server and page exchange, by subject. Generated from the declarations in
 * `longfat.studio`: do not edit, run `python -m tools.web_types`.
 *
 * Times are seconds of virtual time since the machine's boot unless stated otherwise; rates are
 * bit/s, sizes bytes.
 */

// --------------------------------------------------------------------------------
// Values of the model

/** What a policer lets pass. */
export interface Policer {
  /** The rate of IP packets in bit/s. */
  rate_bps: number;
  /** How many bytes beyond it may come at once. */
  burst_bytes: number;
}

/** What one direction of a link does to packets; what is null it leaves alone. */
export interface LinkImpairments {
  /** The rate in bit/s. */
  rate_bps: number | null;
  /** The propagation delay in seconds. */
  delay_s: number | null;
  /** The delay's standard deviation in seconds; needs a delay. */
  jitter_s: number | null;
  /** The share of packets that are lost, 0 to 1. */
  loss: number | null;
  /**
   * Losses in bursts, by the model of Gilbert and Elliott: two to four percentages as netem takes them, how likely a
   * burst begins at a packet and how likely it ends, the share that is lost within bursts and outside of them; not with
   * `loss`.
   */
  burst_loss: string | null;
  /** The share of packets in which one bit is wrong, 0 to 1. */
  corrupt: number | null;
  /** The share of packets that arrive twice, 0 to 1. */
  duplicate: number | null;
  /** The share of packets that are not delayed and so overtake others, 0 to 1; needs a delay. */
  reorder: number | null;
  /**
   * The file, among those of the case, with the trace that the link follows, in place of a rate
   * (`longfat.model.trace`).
   */
  trace: string | null;
  /** The trace is played once, and not again and again. */
  trace_once: boolean | null;
  /** The buffer in front of the rate or trace, in bytes; needs one of these, and no qdisc. */
  queue_bytes: number | null;
  /**
   * The bytes that idle time saves up to be sent at once: the rate is that of a token bucket (tbf), not of a wire;
   * needs a rate.
   */
  burst_bytes: number | null;
  /**
   * The discipline of the queue with its options, in tc's syntax, such as `fq_codel` or `pfifo limit 100`; its options
   * set its limit.
   */
  qdisc: string | null;
  /** What passes at its end, where what comes faster is dropped. */
  policer: Policer | null;
}

/** A value to set in the network of a study. */
export interface RepairEdit {
  /** Keys and indexes below `network`. */
  path: (string | number)[];
  /** The new value; null removes it. */
  value: string | null;
  /** What this does, for display. */
  words: string;
}

// --------------------------------------------------------------------------------
// Errors and problems

/** An error or warning about a text. */
export interface Problem {
  /** The message. */
  message: string;
  /** Counted from 1; null where the problem has no position in the text. */
  line: number | null;
  /** Likewise. */
  column: number | null;
  /** Such as `network.links[2].delay`; empty where there is none. */
  field: string;
  /** Whether the check's `repair` fixes it. */
  has_repair?: boolean;
}

/** Every error answer of the server, with a status of 4xx or 5xx. */
export interface ErrorAnswer {
  /** The message. */
  error: string;
  /** The same with its position in a text; null without one. */
  problem: Problem | null;
  /** The request is queued, and is to be repeated in a moment. */
  queued?: boolean;
}

// --------------------------------------------------------------------------------
// Declared fields, for forms and labels (GET /api/state)

/** A form field, as the server's classes declare it. */
export interface FieldInfo {
  /** Its key in a study. */
  key: string;
  /** Its label. */
  label: string;
  /** What it means. */
  help: string;
  /** The default, or an example. */
  placeholder: string;
  /** A valid value. */
  example: string;
  /** Such as `1 to 128`. */
  limits: string;
  /** What a form has for it. */
  form: "text" | "flag" | "list";
  /**
   * How a label shows a value, such as `{} lost`; empty if it does not. One that begins with a blank belongs to the
   * phrase before it.
   */
  phrase: string;
  /** The unit of its numbers; empty for a text. */
  unit: "" | "bps" | "bytes" | "s" | "fraction" | "count";
  /** Which part of a text a label shows: the whole, the first word, or what follows the last slash. */
  shown: "whole" | "word" | "name";
}

/** The declared fields, for forms and labels. */
export interface Fields {
  /** Those of the network as a whole. */
  network: FieldInfo[];
  /** Those of a host. */
  host: FieldInfo[];
  /** Those of each direction of a link. */
  direction: FieldInfo[];
  /** Those of a link as a whole. */
  link: FieldInfo[];
  /** Those of all flows. */
  flow: FieldInfo[];
  /** Those specific to each tool. */
  tools: Record<string, FieldInfo[]>;
}

// --------------------------------------------------------------------------------
// The result of checking a document's text (POST /api/check)

/** An interface of a host. */
export interface CheckedInterface {
  /** Its name. */
  name: string;
  /** Its address with the prefix length; null if it has none. */
  address: string | null;
}

/** A route of a host. */
export interface CheckedRoute {
  /** The destination. */
  to: string;
  /** The next hop. */
  via: string;
}

/** A host or router. */
export interface CheckedHost {
  /** Its name. */
  name: string;
  /** Its first address; null if it has none. */
  address: string | null;
  /** Whether it is a router. */
  forwards: boolean;
  /** Its routes. */
  routes: CheckedRoute[];
  /** Its interfaces. */
  interfaces: CheckedInterface[];
}

/** A switch. */
export interface CheckedSwitch {
  /** Its name. */
  name: string;
  /** The names of its interfaces. */
  interfaces: string[];
}

/** A link. Pairs are of its ends, or of the directions away from them: first a, then b. */
export interface CheckedLink {
  /** The node at its first end. */
  a: string;
  /** The node at its second end. */
  b: string;
  /** The names of its interfaces. */
  interfaces: [string, string];
  /** Their addresses. */
  addresses: [string | null, string | null];
  /** What happens to packets from a to b, and from b to a. */
  impairments: [LinkImpairments, LinkImpairments];
  /** The complete tc commands for this, at the sending end. */
  tc: [string[], string[]];
  /** The MTU of its interfaces, in bytes; null for the default. */
  mtu_bytes: number | null;
}

/** A network. */
export interface CheckedNetwork {
  /** Its hosts and routers. */
  hosts: CheckedHost[];
  /** Its switches. */
  switches: CheckedSwitch[];
  /** Its links. */
  links: CheckedLink[];
}

/** A flow. */
export interface CheckedFlow {
  /** Its name. */
  name: string;
  /** The program. */
  tool: string;
  /** The node of the client. */
  source: string;
  /** The node of the server. */
  target: string;
  /** When it starts, after the traffic's start or the end of `after`, in seconds. */
  start_s: number;
  /** The flow that it waits for; null for none. */
  after: string | null;
  /** Human-readable, such as `10 s, 8 streams, bbr`. */
  summary: string;
  /** The client's command line. */
  command: string;
}

/** A probe. */
export interface CheckedProbe {
  /** Its name. */
  name: string;
  /** What it samples. */
  kind: string;
  /** The interfaces, flows or hosts that it samples. */
  of: string[];
}

/** A case of a study. */
export interface CheckedCase {
  /** Its name. */
  name: string;
  /** Its title. */
  title: string;
  /** With how many seeds it is run. */
  seeds: number;
  /** The series of its kernel. */
  kernel: string;
  /** About how much virtual time one run takes, in seconds. */
  expected_s: number;
  /** Its set-up lines. */
  setup: SetupLine[];
  /** Its flows. */
  flows: CheckedFlow[];
  /** Its probes. */
  probes: CheckedProbe[];
}

/** A claim. */
export interface CheckedClaim {
  /** The sentence. */
  text: string;
  /** What is evaluated. */
  expression: string;
}

/** A study without errors. Values that differ between cases are those of the first case. */
export interface CheckedStudy {
  /** Its title. */
  title: string;
  /** The series of its kernel. */
  kernel: string;
  /** Its first seed. */
  seed: number;
  /** The memory of a machine, in bytes. */
  memory_bytes: number;
  /** The network that all cases share; null where each case has its own. */
  network: CheckedNetwork | null;
  /** Its cases. */
  cases: CheckedCase[];
  /** Its claims. */
  claims: CheckedClaim[];
}

/** The result of checking a document's text. */
export interface CheckResult {
  /** The errors. */
  problems: Problem[];
  /** Problems that do not prevent a run. */
  warnings: Problem[];
  /** Edits after which all hosts reach each other; empty where they already do, or no edit helps. */
  repair: RepairEdit[];
  /** The study; null where there are problems. */
  study: CheckedStudy | null;
}

// --------------------------------------------------------------------------------
// Files and documents (/api/files, /api/document, /api/templates)

/** What a file of the workspace is. */
export type FileKind = "study" | "miniedit" | "mininet";

/** A file that can be opened. */
export interface FileEntry {
  /** Below the workspace, with slashes. */
  path: string;
  /** What it is. */
  kind: FileKind;
  /** Its size, in bytes. */
  size_bytes: number;
  /** When it was written last, in seconds since 1970. */
  modified_s: number;
}

/** A request about the text of a study. */
export interface StudyRequest {
  /** The name of its document. */
  name: string;
  /** The text. */
  text: string;
}

/** A request about a document, which may name files beside it. */
export interface DocumentRequest extends StudyRequest {
  /** Its file below the workspace; null for a lab or a document that is not saved yet. */
  path?: string | null;
  /** Its lab; likewise. */
  lab?: string | null;
}

/** A document that was opened. */
export interface OpenedDocument {
  /** The name of the tab. */
  name: string;
  /** Where it is saved; null for a lab and for what was converted from another format. */
  path: string | null;
  /** The version of its file, to be sent with what is saved; null if it has none. */
  version: string | null;
  /** Its lab; null if it is none. */
  lab: string | null;
  /** Its text. */
  text: string;
  /** The parts of a MiniEdit file or Mininet script that could not be converted. */
  warnings: string[];
}

/** A request to save a document. */
export interface SaveDocumentRequest {
  /** The text. */
  text: string;
  /** The version that the page has read or saved last; null if it knows of none. */
  version?: string | null;
  /** Overwrite whatever is there: the user was asked. */
  force?: boolean;
  /** Its file below the workspace. */
  path: string;
}

/** A document that was saved. */
export interface SavedDocument {
  /** Its file. */
  path: string;
  /** The file's version. */
  version: string;
  /** What could not be converted to the file's format. */
  warnings: string[];
}

/** A request to convert a study. */
export interface ExportRequest extends StudyRequest {
  /** The ending of the other format's files. */
  suffix: string;
}

/** A study in another format. */
export interface ExportedDocument {
  /** The content of the file. */
  text: string;
  /** What could not be converted. */
  warnings: string[];
}

/** A request for a study by a template. */
export interface TemplateRequest {
  /** The name of the template, or of a network of practice. */
  template: string;
  /** Its parameters as they were typed, by key; the default for an empty one. */
  values?: Record<string, string>;
}

/** A parameter of a template. */
export interface TemplateParameter {
  /** Its key. */
  key: string;
  /** Its label. */
  label: string;
  /** What it means. */
  help: string;
  /** Such as `1 to 128`. */
  limits: string;
  /** The default, as it is typed. */
  default: string;
}

/** A study to begin with. */
export interface Template {
  /** A template with parameters, or a network of practice, which has none. */
  kind: "template" | "practice";
  /** Its name. */
  name: string;
  /** Its title. */
  title: string;
  /** What it is. */
  help: string;
  /** Its parameters. */
  parameters: TemplateParameter[];
}

// --------------------------------------------------------------------------------
// Documents that are being edited (/api/drafts, /ws/drafts)

/** A change of a draft's text: one of `set`, `undo` and `redo`. */
export interface DraftStep {
  /** The new text. */
  set?: string | null;
  /** False if it extends the step before. */
  step?: boolean;
  /** Take back the last step. */
  undo?: boolean;
  /** Repeat the step that was taken back last. */
  redo?: boolean;
}

/** The fields that a page may set directly; as of `Draft`. */
export interface DraftFields {
  name?: string;
  path?: string | null;
  lab?: string | null;
  saved?: string;
  version?: string | null;
  chosen_case?: string | null;
  session?: string | null;
  shown_run?: string | null;
  imported?: ImportReport | null;
}

/** A request for a new network. */
export interface NewDraftRequest {
  /** The page that does it. */
  page: string;
  /** Its text, in which `{number}` is replaced by the number of its name. */
  text: string;
  /** Only if nothing is open; else the last one that was opened is returned. */
  first?: boolean;
}

/** A request to change a draft, or to create one. */
export interface ChangeDraftRequest {
  /** The page that does it. */
  page: string;
  /** The revision that the page has; null for a new draft. */
  base?: number | null;
  /** The changes of the text. */
  steps?: DraftStep[];
  /** Other fields with their new values. */
  fields?: DraftFields;
  /** Its tab was closed, or opened again; null for neither. */
  closed?: boolean | null;
}

/** The report of an import from another format. */
export interface ImportReport {
  /** The file's name. */
  source: string;
  /** When, in seconds since 1970. */
  at_s: number;
  /** What could not be converted. */
  messages: string[];
}

/** A network or study that is being drawn. */
export interface Draft {
  /** Generated by the page. */
  id: string;
  /** The name of its tab. */
  name: string;
  /** Its text. */
  text: string;
  /** Its file below the workspace; null if it has none. */
  path: string | null;
  /** Its lab; null if it is none. */
  lab: string | null;
  /** The text as it was saved last. */
  saved: string;
  /** The version of the file as the page has read or saved it last. */
  version: string | null;
  /** The case that Run runs. */
  chosen_case: string | null;
  /** Its live session. */
  session: string | null;
  /** The run whose charts are shown if there is no session. */
  shown_run: string | null;
  /** The import report. */
  imported: ImportReport | null;
  /** The texts that undo restores, the most recent last. */
  undo: string[];
  /** Likewise for redo. */
  redo: string[];
  /** The number of changes. */
  revision: number;
  /** When it was opened, in seconds since 1970. */
  opened_s: number;
  /** When its tab was closed, likewise; null while it is open. */
  closed_s: number | null;
}

/** Which server this is. */
export interface ServerIdentity {
  /** Identifies this server process: it differs after each start. */
  instance: string;
  /** Identifies the workspace. */
  workspace: string;
  /** The workspace's folder. */
  path: string;
}

/** All drafts. */
export interface Drafts extends ServerIdentity {
  /** In the order in which they were opened, closed ones among them. */
  drafts: Draft[];
}

/** A draft after a page's change. */
export interface ChangedDraft {
  /** Its number of changes. */
  revision: number;
  /** The whole draft, if another page has changed it meanwhile; else null. */
  draft: Draft | null;
}

/** The first event: all drafts. */
export interface DraftsEvent extends Drafts {
  event: "hello";
}

/** A draft was changed. */
export interface DraftChangedEvent {
  event: "draft";
  /** The page that did it. */
  page: string;
  /** The draft. */
  draft: Draft;
}

/** A draft was removed. */
export interface DraftForgottenEvent {
  event: "forgotten";
  /** The page that did it. */
  page: string;
  /** The draft's id. */
  id: string;
}

/** An event of drafts. */
export type DraftEvent = DraftsEvent | DraftChangedEvent | DraftForgottenEvent;

// --------------------------------------------------------------------------------
// Labs (/api/labs)

/** A language in which a lab's text is available. */
export interface TextLanguage {
  /** Such as `ru`. */
  code: string;
  /** Its name in that language. */
  label: string;
}

/** A lab in the list of labs. */
export interface LabEntry {
  /** Its name. */
  name: string;
  /** The course's id, by which labs are grouped; the list is in the courses' order. */
  course: string;
  /** The course's title. */
  course_title: string;
  /** The course's description; empty if it has none. */
  course_about: string;
  /** The lab's title. */
  title: string;
  /** The code of the language that the title is in. */
  language: string;
  /** The languages in which its text is available. */
  languages: TextLanguage[];
  /** It is a lab of the class, with exercises. */
  has_exercises: boolean;
}

/** A lab's text for the page. */
export interface LabText {
  /** The lab's name. */
  name: string;
  /** Its title. */
  title: string;
  /** The code of the language that it is in. */
  language: string;
  /** Cleaned HTML; a code block that is a step is `<pre data-step="h1 h2">`, with nodes separated by spaces. */
  html: string;
  /** The languages in which it is available. */
  languages: TextLanguage[];
  /** It is a lab of the class, with exercises. */
  has_exercises: boolean;
}

// --------------------------------------------------------------------------------
// Studies that are run as a whole (/api/jobs, /ws/jobs)

/** A request to run cases of a study. */
export interface JobRequest {
  /** The study's name. */
  name: string;
  /** Its text. */
  text: string;
  /** Its lab, or null. */
  lab?: string | null;
  /** Its file below the workspace, or null. */
  path?: string | null;
  /** The names of the cases to run; all, if empty. */
  cases?: string[];
  /** How many seeds each is run with; null for the study's own number. */
  seeds?: number | null;
  /** For the lab's text in the report, the preferred first. */
  languages?: string[];
}

/** The state of a case in a job. */
export type CaseState = "waiting" | "running" | "done" | "failed" | "known";

/** The state of a job. */
export type JobState = "running" | "done" | "failed" | "cancelled";

/** A case of a job, over all of its seeds. */
export interface JobCase {
  /** Its name. */
  name: string;
  /** Its title. */
  title: string;
  /** Its state; `known` if its runs existed before. */
  state: CaseState;
  /** How much virtual time has passed, in seconds. */
  virtual_s: number;
  /** About how much virtual time all runs take, in seconds. */
  expected_s: number;
  /** With how many seeds it is run. */
  seeds: number;
  /** How many of these runs have ended. */
  seeds_done: number;
  /** The run directories below the workspace, one for each seed that is done. */
  runs: string[];
}

/** A claim, evaluated. */
export interface ClaimRow {
  /** The sentence. */
  text: string;
  /** What was evaluated. */
  expression: string;
  /** Whether it holds; null if unknown. */
  holds: boolean | null;
  /** Its values, human-readable; in how many seeds it held. */
  detail: string;
}

/** A row of a table. */
export interface TableRow {
  /** The heading above it; empty for none. */
  group: string;
  /** Its cells. */
  cells: string[];
}

/** A table. */
export interface Table {
  /** The headings of its columns. */
  columns: string[];
  /** Its rows. */
  rows: TableRow[];
}

/** A job. */
export interface JobInfo {
  /** The claims. */
  claims: ClaimRow[];
  /** Published and measured values; null if the study has none. */
  published: Table | null;
  /** The metrics of the other cases; null if there are none. */
  measured: Table | null;
  /** Its number. */
  id: string;
  /** The study's name. */
  name: string;
  /** Its lab; null if it is none. */
  lab: string | null;
  /** Its state. */
  state: JobState;
  /** What it is waiting for before it can begin; null if it is not queued. */
  waits: string | null;
  /** Its cases. */
  cases: JobCase[];
  /** The error, with its position in the text; null without one. */
  problem: Problem | null;
  /** The path of the report's page for GET, once it exists. */
  report: string | null;
  /** The folder of the runs, below the workspace. */
  folder: string;
}

/** A job has begun or changed; at first one for every job. */
export interface JobEvent {
  event: "job";
  job: JobInfo;
}

// --------------------------------------------------------------------------------
// Saved runs (/api/runs, /api/diagnosis, /api/losses)

/** A metric of a run, human-readable. */
export interface RunResult {
  /** Whose it is, and its label. */
  name: string;
  /** The value with its unit. */
  text: string;
}

/** A saved run. */
export interface RunEntry {
  /** The run directory below the workspace. */
  path: string;
  /** The name of its study's folder. */
  study: string;
  /** The case. */
  case: string;
  /** Its seed. */
  seed: number;
  /** The kernel's release. */
  kernel: string;
  /** The digest of its results. */
  digest: string;
  /** When it was written, in seconds since 1970. */
  modified_s: number;
  /** Some metrics that distinguish runs. */
  results: RunResult[];
  /** The path for GET of the report that contains it; null if none was written. */
  report: string | null;
}

/** A command at a node. */
export interface SetupLine {
  /** Its node. */
  node: string;
  /** The command. */
  line: string;
}

/** A value for a field of a flow in the study. */
export interface StudyValue {
  /** Its key. */
  field: string;
  /** As it is typed. */
  value: string;
}

/** What would help a flow: all of its lines and fields together. */
export interface Fix {
  /** Commands, by node. */
  lines: SetupLine[];
  /** Values for fields of the flow in the study. */
  study: StudyValue[];
  /** Other flows of the bottleneck, whose share of it becomes smaller. */
  takes_from: string[];
}

/** What limited a flow. */
export interface Advice {
  /** One line: the flow's throughput, the available rate, what limited it, and what became of its RTT. */
  answer: string;
  /** One sentence: what limited the flow. */
  verdict: string;
  /** The evidence, and the recommendation. */
  notes: string[];
  /** The recommended one first, then alternatives, each by itself. */
  fixes: Fix[];
}

/** What limited a flow of a run. */
export interface RunDiagnosis {
  /** Its name. */
  flow: string;
  /** What limited it. */
  advice: Advice;
}

/** Packets that a run lost at one place, for one cause, of one flow. */
export interface RunLoss {
  /** Their number. */
  packets: number;
  /** The interface or node that dropped them. */
  place: string;
  /** Why, with the qdisc that did. */
  cause: string;
  /** What the cause means. */
  meaning: string;
  /** The flow, and its direction. */
  flow: string;
  /** When the first was dropped, in seconds after the traffic's start. */
  first_s: number;
  /** When the last was dropped, likewise. */
  last_s: number;
}

// --------------------------------------------------------------------------------
// Charts of runs over time (/api/panels, and in pages of reports)

/** Values over time. */
export interface PanelTrace {
  /** The times, in seconds. */
  times_s: number[];
  /** The values, in base units; null is a gap. */
  values: (number | null)[];
}

/** A line of a panel. */
export interface PanelLine extends PanelTrace {
  /** Its label. */
  label: string;
  /** The number of a colour, dash and mark, the same in all panels for the same flow or interface. */
  style_index: number;
  /** The lower edge of a band around it; null if it has none. */
  low: (number | null)[] | null;
  /** The upper edge. */
  high: (number | null)[] | null;
  /** Its components, drawn thin: the streams of a flow. */
  parts: PanelTrace[];
  /** Its points are single measurements that no line joins. */
  dots: boolean;
  /** A value stays until the next one. */
  steps: boolean;
  /** It has so many points that dashes would not be recognisable. */
  dense: boolean;
  /** Times of missing values, such as of lost replies, in seconds. */
  missing_s: number[];
}

/** A constant to compare with. */
export interface PanelLevel {
  /** Its label. */
  label: string;
  /** The value, in base units. */
  value: number;
}

/** An event. */
export interface PanelMoment {
  /** Its label. */
  label: string;
  /** Its time, in seconds. */
  at_s: number;
}

/** One quantity of finished runs over time. */
export interface PanelData {
  /** The title. */
  title: string;
  /** The name of the quantity. */
  metric: string;
  /** Its base unit. */
  unit: string;
  /** What is counted, if the unit is a count. */
  counted: string;
  /** The lines. */
  lines: PanelLine[];
  /** Constants to compare with. */
  references: PanelLevel[];
  /** Events, in order of time. */
  moments: PanelMoment[];
}

// --------------------------------------------------------------------------------
// Charts of a report's page

/** A position from 0 to 1 of a colour scale, and the colour there. */
export type Stop = [number, string];

/** Quantities over time. */
export interface TimeSpec {
  type: "time";
  /** The title of the time axis; charts with the same title are zoomed together. */
  time: string;
  /** Start and end of the time axis, in seconds. */
  span: [number, number];
  /** The panels, from above; of each times there is the index in `ReportCharts.times`. */
  panels: PanelData[];
}

/** The course of two quantities. */
export interface PhaseTrace {
  /** Its label. */
  label: string;
  /** The times in seconds. */
  t: number[];
  /** The quantity from left to right. */
  x: number[];
  /** The other one. */
  y: number[];
  /** Reference values on the two axes; null for none. */
  marks: [number | null, number | null];
}

/** One quantity against another, with time as colour. */
export interface PhaseSpec {
  type: "phase";
  /** Title and unit of the quantity from left to right. */
  across: [string, string];
  /** Likewise of the other. */
  up: [string, string];
  /** What is drawn, a panel each. */
  traces: PhaseTrace[];
}

/** An axis. */
export interface AxisSpec {
  /** Its title. */
  title: string;
  /** Its unit. */
  unit: string;
  /** Whether it is logarithmic. */
  log: boolean;
  /** Its ticks are texts and not a scale of numbers. */
  texts: boolean;
  /** On a logarithmic axis, the position of 0 beside the scale. */
  zero: number | null;
  /** Likewise of the separator. */
  fence: number | null;
  /** Its ends. */
  range: [number, number];
  /** Their positions and their texts. */
  ticks: [number[], string[]];
}

/** A series of points. */
export interface SeriesSpec {
  /** Its label. */
  label: string;
  /** Its style; for theory, null means that it belongs to no series. */
  style_index: number | null;
  /** The index of the curve of theory; null for measurements. */
  rank: number | null;
  /** The positions from left to right. */
  x: (number | null)[];
  /** The positions from below. */
  y: (number | null)[];
  /** The lower ends of the points' spreads. */
  low?: (number | null)[];
  /** The upper ends. */
  high?: (number | null)[];
  /** The cases, as indices into the page's list of names. */
  names?: number[];
}

/** A constant of theory. */
export interface MarkSpec {
  /** Its label. */
  label: string;
  /** Its index among the curves and constants of theory. */
  rank: number;
  /** The style of the series that it belongs to; null if it belongs to all. */
  style_index: number | null;
  /** Whether it is of the axis from left to right. */
  upright: boolean;
  /** Its position. */
  at: number;
}

/** One of the small multiples. */
export interface FacetSpec {
  /** Its title. */
  title: string;
  /** The series. */
  series: SeriesSpec[];
  /** The constants of theory. */
  marks: MarkSpec[];
}

/** Metrics of many cases in small multiples with the same axes. */
export interface GridSpec {
  type: "lines" | "points" | "cdf";
  /** What distinguishes the series; empty if there is only one. */
  by: string;
  /** The axis from left to right. */
  x: AxisSpec;
  /** The other one. */
  y: AxisSpec;
  /** The multiples. */
  facets: FacetSpec[];
}

/** An axis of a heat map. */
export interface HeatAxis {
  /** Its title. */
  title: string;
  /** The texts of its ticks. */
  texts: string[];
}

/** The colour scale of a heat map. */
export interface HeatColour {
  /** The title of the quantity. */
  title: string;
  /** Its unit. */
  unit: string;
  /** Their positions from 0 to 1, and their texts. */
  ticks: [number[], string[]];
  /** Positions from 0 to 1, and the colours there. */
  stops: Stop[];
}

/** One of the heat maps. */
export interface HeatFacetSpec {
  /** Its title. */
  title: string;
  /** By row and column, the position on the colour scale, or null for no value. */
  z: ((number | null)[])[];
  /** Likewise the value as text. */
  text: string[][];
}

/** A metric over two parameters, as colours. */
export interface HeatSpec {
  type: "heat";
  /** Empty. */
  by: string;
  /** The axis from left to right. */
  x: HeatAxis;
  /** The other one. */
  y: HeatAxis;
  /** The colour scale. */
  colour: HeatColour;
  /** The maps. */
  facets: HeatFacetSpec[];
}

/** A chart of a page. */
export type ChartSpec = TimeSpec | PhaseSpec | GridSpec | HeatSpec;

/** The charts of a page. */
export interface ReportCharts {
  /** The colour scales of time for the light and the dark theme. */
  timeColours: [Stop[], Stop[]];
  /** Times that lines share, as differences in units of 10 µs. */
  times: number[][];
  /** Names of cases. */
  names: string[];
  /** The charts, by their names. */
  charts: Record<string, ChartSpec>;
}

// --------------------------------------------------------------------------------
// Captures and their decoded packets (/api/captures, /api/packets, ...)

/** A saved capture of a run. */
export interface SavedCapture {
  /** The probe's name. */
  name: string;
  /** The interface. */
  interface: string;
}

/** Where a packet is in the list. */
export interface PacketPlace {
  /** Its row, from 0. */
  row: number;
}

/** All that is known of a packet. */
export interface PacketText {
  /** As `longfat packets --details` prints it. */
  text: string;
}

/** What has decoded a capture. */
export interface PacketDecoder {
  /** The program or library. */
  name: string;
  /** Its version. */
  version: string;
  /** Its limitations. */
  lacks: string;
  /** Why the preferred decoder is not used; empty if it is. */
  why: string;
}

/** One end of a stream. */
export interface PacketEnd {
  /** Its address. */
  address: string;
  /** Its port. */
  port: number;
}

/** A TCP stream. */
export interface PacketStream {
  /** Its number, as Wireshark counts. */
  number: number;
  /** Its ends; the first is the one whose packet came first. */
  ends: [PacketEnd, PacketEnd];
  /** How many packets it has. */
  packets: number;
  /** Of data, each way. */
  bytes: [number, number];
  /** Retransmissions. */
  repeated: number;
}

/** A decoded capture. */
export interface PacketCapture {
  /** Its name. */
  name: string;
  /** This state of a file that grows; in further requests it means this state. */
  version: string;
  /** How many packets were decoded. */
  packets: number;
  /** There are more packets, which were not decoded. */
  is_cut: boolean;
  /** The time of the first packet, in seconds. */
  first_s: number;
  /** The time of the last packet, in seconds. */
  last_s: number;
  /** What has decoded it. */
  decoder: PacketDecoder;
  /** Its TCP streams. */
  streams: PacketStream[];
}

/** The stream that a packet belongs to. */
export interface StreamRef {
  /** Its protocol. */
  kind: "tcp" | "udp";
  /** Its number, as Wireshark counts. */
  number: number;
}

/** The TCP header of a packet. */
export interface TcpFields {
  /** Its flags. */
  flags: number;
  /** The sequence number, relative to the stream's start. */
  seq: number;
  /** The acknowledgement number, likewise. */
  ack: number;
  /** The bytes of data. */
  payload: number;
  /** The receive window in bytes. */
  window: number;
  /** The same as in the header, not scaled. */
  window_raw: number;
  /** The port of the sender. */
  source_port: number;
  /** The port of the receiver. */
  target_port: number;
  /** The edges of the selectively acknowledged ranges. */
  sack: [number, number][];
  /** How long after the segment that it acknowledges, in seconds; null if unknown. */
  ack_rtt_s: number | null;
  /** The bytes that are sent and not acknowledged; null if unknown. */
  in_flight: number | null;
}

/** A packet in the list. */
export interface PacketRow {
  /** Its number in the capture, from 1. */
  number: number;
  /** Its time, in seconds. */
  time_s: number;
  /** The address of its sender. */
  source: string;
  /** The address of its receiver. */
  target: string;
  /** The highest protocol that was decoded. */
  protocol: string;
  /** Its length on the wire in bytes. */
  length: number;
  /** How many of these were captured. */
  captured: number;
  /** A description. */
  info: string;
  /** The stream that it belongs to; null for none. */
  stream: StreamRef | null;
  /** 0 none, 1 and 2 capable, 3 congestion experienced (RFC 3168). */
  ecn: number;
  /** Remarks of the TCP analysis, such as "retransmission". */
  marks: string[];
  /** The TCP header, if it has one. */
  tcp?: TcpFields;
}

/** A part of the list of packets. */
export interface PacketPage {
  /** How many packets match. */
  total: number;
  /** The first row of this part, from 0. */
  start: number;
  /** The packets. */
  rows: PacketRow[];
}

/** A piece of the data of a TCP stream, in order. */
export interface FollowedPiece {
  /** Which end sent it. */
  from: number;
  /** The packet; 0 where the stream ends with a gap. */
  number: number;
  /** Its bytes. */
  length: number;
  /** How many of these were captured. */
  captured?: number;
  /** The data, with a dot for each byte that cannot be printed. */
  text: string;
  /** The same in hexadecimal digits, its beginning. */
  hex?: string;
  /** There is more of the stream, which is not shown. */
  more: boolean;
}

/** The segments of a time-sequence graph, by column. */
export interface SentSegments {
  /** The packets. */
  number: number[];
  /** Their times, in seconds. */
  time_s: number[];
  /** The first sequence number. */
  seq: number[];
  /** The one after the last. */
  end: number[];
  /** 1 for a retransmission. */
  repeated: number[];
  /** 1 for a segment out of order. */
  late: number[];
  /** 1 for congestion experienced. */
  marked: number[];
}

/** The acknowledgements of a time-sequence graph, by column. */
export interface Acknowledgements {
  /** The packets. */
  number: number[];
  /** Their times, in seconds. */
  time_s: number[];
  /** The acknowledgement numbers. */
  ack: number[];
  /** The end of the receive window. */
  window: number[];
}

/** A stream's time-sequence graph, as tcptrace draws it. */
export interface TimeSequence {
  /** The stream. */
  stream: number;
  /** The segments are those of the end that did not send first. */
  reverse: boolean;
  /** The ends of the stream. */
  ends: [PacketEnd, PacketEnd];
  /** Only every n-th segment is included. */
  thinned: number;
  /** The segments. */
  sent: SentSegments;
  /** The acknowledgements. */
  acked: Acknowledgements;
  /** Selectively acknowledged ranges: when, and from where to where. */
  sack: [number, number, number][];
}

// --------------------------------------------------------------------------------
// Progress in labs (/api/labs/NAME/progress, /ws/progress)

/** The result of a step's commands. */
export interface StepProgress {
  /** The commands that exited with 0, by node and number, such as `h1 0`. */
  good: string[];
  /** The exit status of the last command; null before the first has ended. */
  status: number | null;
  /** All of them exited with 0. */
  done: boolean;
}

/** The answer to a question. */
export interface AnswerProgress {
  /** The given answer. */
  text: string;
  /** Whether it was right; null if not marked. */
  right: boolean | null;
  /** The answer was shown. */
  shown: boolean;
}

/** The result of an exercise's last check; written only by the server. */
export interface ExerciseProgress {
  /** The points that it gave. */
  points: number;
  /** The points that it can give. */
  most: number;
  /** Why not all of them. */
  reasons: string[];
  /** Explanations of the mistakes found. */
  explained: string[];
  /** Digest of the answer and the files that were checked. */
  digest: string;
  /** The hints that were shown on request. */
  hints: string[];
}

/** The progress in a lab. */
export interface LabProgress {
  /** Its name. */
  lab: string;
  /** The steps that were typed, by their keys. */
  steps: Record<string, StepProgress>;
  /** How many steps the text has; 0 if not reported yet. */
  step_count: number;
  /** The claims that were evaluated, and whether they held the last time. */
  claims: Record<string, boolean>;
  /** How many claims the study has. */
  claim_count: number;
  /** The questions that were answered, by their numbers or names. */
  answers: Record<string, AnswerProgress>;
  /** How many questions there are. */
  answer_count: number;
  /** The exercises that were checked, by their names. */
  exercises: Record<string, ExerciseProgress>;
  /** How often each was checked, as the server counts it. */
  checks: Record<string, number>;
  /** When it changed, in seconds since 1970; 0 if there is none yet. */
  changed_s: number;
}

/** The progress in a lab in numbers. */
export interface ProgressSummary {
  /** Its name. */
  lab: string;
  /** How many steps are done. */
  steps: number;
  /** How many there are. */
  step_count: number;
  /** How many claims held. */
  claims: number;
  /** How many there are. */
  claim_count: number;
  /** How many answers were right. */
  answers: number;
  /** How many questions there are. */
  answer_count: number;
  /** The points of the exercises that were checked. */
  points: number;
  /** The points that these can give. */
  most_points: number;
  /** How often exercises were checked. */
  checks: number;
  /** When it changed, in seconds since 1970. */
  changed_s: number;
}

/** A page's changes of the progress in a lab; the entries as of `LabProgress`. */
export interface ProgressRequest {
  /** The page that does it. */
  page?: string;
  /** Numbers the page's changes. */
  number?: number;
  steps?: Record<string, StepProgress>;
  step_count?: number | null;
  claims?: Record<string, boolean>;
  claim_count?: number | null;
  answers?: Record<string, AnswerProgress>;
  answer_count?: number | null;
}

/** Changes made on a page in a lab: entries to add, and new counts; as of `LabProgress`. */
export interface ProgressChange {
  steps?: Record<string, StepProgress>;
  step_count?: number;
  claims?: Record<string, boolean>;
  claim_count?: number;
  answers?: Record<string, AnswerProgress>;
  answer_count?: number;
  exercises?: Record<string, ExerciseProgress>;
  checks?: Record<string, number>;
}

/** The first event: the progress in all labs that were started. */
export interface AllProgressEvent {
  event: "hello";
  /** By the labs' names. */
  labs: Record<string, LabProgress>;
}

/** The progress in a lab has changed. */
export interface ProgressChangedEvent {
  event: "progress";
  /** The page that did it; empty for the server. */
  page: string;
  /** The lab. */
  lab: string;
  /** The change. */
  change: ProgressChange;
}

/** The progress in a lab was reset. */
export interface ProgressForgottenEvent {
  event: "forgotten";
  /** The page that did it. */
  page: string;
  /** The lab. */
  lab: string;
}

/** An event of progress. */
export type ProgressEvent = AllProgressEvent | ProgressChangedEvent | ProgressForgottenEvent;

// --------------------------------------------------------------------------------
// A lab's exercises (/api/labs/NAME/exercises)

/** What a part of a submission is. */
export type PartKindName = "study" | "setup" | "network" | "answers" | "iperf3";

/** The state of a check: it waits for a machine, runs, or has ended. */
export type CheckState = "waiting" | "running" | "done" | "failed" | "cancelled";

/** A file of a part. */
export interface ExerciseFile {
  /** Below the folder of the lab. */
  file: string;
  /** Its text; null if it is not edited as text. */
  text: string | null;
  /** Its size, in bytes; null if it does not exist yet. */
  size_bytes: number | null;
  /** Why it cannot be shown. */
  problem: string;
  /** The canvas shows it: it is the lab's study. */
  is_canvas: boolean;
  /** To be sent with what is saved; null if it does not exist yet. */
  version: string | null;
}

/** The answer to a question. */
export interface ExerciseAnswer {
  /** The question. */
  name: string;
  /** The answer; empty for none. */
  text: string;
  /** To be sent with what is saved; null for no answer. */
  version: string | null;
}

/** A part of a submission. */
export interface ExercisePart {
  /** Its name. */
  name: string;
  /** What it is. */
  kind: PartKindName;
  /** Its files. */
  files: ExerciseFile[];
  /** The answers that exist, or are required, if it is a part of answers. */
  answers: ExerciseAnswer[];
}

/** An exercise. */
export interface Exercise {
  /** Its name. */
  name: string;
  /** Its title. */
  title: string;
  /** The part that it is in. */
  part: string;
  /** The points that it can give. */
  points: number;
  /** Whether an answer is asked for. */
  is_question: boolean;
  /** Of a question: the unit that an answer may be in; empty for a plain number. */
  unit: string;
  /** How many hints there are. */
  hint_count: number;
}

/** The checks of an exercise, as the server counts them. */
export interface CheckCount {
  /** How often it was checked. */
  checks: number;
  /** Of a question: wrong answers since the last right one. */
  wrong: number;
  /** How long the next check has to wait, in seconds. */
  wait_s: number;
}

/** A check of a lab's exercises. */
export interface ExerciseCheck {
  /** Counts the checks of a workspace. */
  number: number;
  /** Its state. */
  state: CheckState;
  /** The exercises that are checked. */
  exercises: string[];
  /** What it is waiting for; null if it is not queued. */
  waits: string | null;
  /** Why it failed. */
  problem: string;
  /** As of `Exercises`. */
  counts: Record<string, CheckCount>;
}

/** The exercises of a lab, with a student's files. */
export interface Exercises {
  /** Its name. */
  lab: string;
  /** The deadline; null for none. */
  deadline: string | null;
  /** The points that all exercises can give. */
  points: number;
  /** How many of these are of hidden exercises. */
  hidden_points: number;
  /** The exercises, without hidden ones. */
  exercises: Exercise[];
  /** Whose they are. */
  student: string;
  /** The student's seed. */
  seed: number;
  /** The student's files, below the workspace. */
  folder: string;
  /** The parts of the submission. */
  parts: ExercisePart[];
  /** Digests of the files that each exercise depends on. */
  digests: Record<string, string>;
  /** The last check; null if there was none since the server started. */
  check: ExerciseCheck | null;
  /** The exercises that were checked. */
  counts: Record<string, CheckCount>;
}

/** A request to save a part of an exercise. */
export interface PartRequest {
  /** The text. */
  text: string;
  /** The version that the page has read or saved last; null if it knows of none. */
  version?: string | null;
  /** Overwrite whatever is there: the user was asked. */
  force?: boolean;
  /** The file of the part. */
  file: string;
  /** The page that does it. */
  page?: string;
}

/** A request to save the answer to a question. */
export interface AnswerRequest {
  /** The text. */
  text: string;
  /** The version that the page has read or saved last; null if it knows of none. */
  version?: string | null;
  /** Overwrite whatever is there: the user was asked. */
  force?: boolean;
  /** The question. */
  question: string;
  /** The page that does it. */
  page?: string;
}

/** A request to check exercises. */
export interface CheckRequest {
  /** Their names; all, if empty. */
  exercises?: string[];
}

/** A request for the next hint. */
export interface HintRequest {
  /** The exercise. */
  exercise: string;
}

/** A part or an answer that was saved. */
export interface SavedInput {
  /** Its new version; null for no answer. */
  version: string | null;
  /** As of `Exercises`. */
  digests: Record<string, string>;
}

/** A file of a part was saved. */
export interface PartEvent extends SavedInput {
  event: "part";
  /** The page that did it. */
  page: string;
  /** The lab. */
  lab: string;
  /** The file. */
  file: string;
  /** Its text. */
  text: string;
}

/** An answer was saved. */
export interface AnswerSavedEvent extends SavedInput {
  event: "answer";
  /** The page that did it. */
  page: string;
  /** The lab. */
  lab: string;
  /** The question. */
  question: string;
  /** The answer. */
  text: string;
}

/** A check has begun or changed. */
export interface CheckEvent {
  event: "check";
  /** The lab. */
  lab: string;
  /** The check. */
  check: ExerciseCheck;
}

/** An event of exercises. */
export type ExerciseEvent = PartEvent | AnswerSavedEvent | CheckEvent;

// --------------------------------------------------------------------------------
// Live sessions: start (POST /api/sessions)

/** A request to start a session. */
export interface SessionRequest extends DocumentRequest {
  /** The chosen case; null for the only one, or the bare network. */
  case?: string | null;
}

// --------------------------------------------------------------------------------
// Live sessions: events on /ws/sessions/ID

/**
 * Virtual seconds per second of wall time; "max" is as fast as possible. Null is real time while a command typed at a
 * terminal runs, else as fast as possible.
 */
export type PaceChoice = "max" | number | null;

/** Time passes; no process has anything to do; or the user holds the clock. */
export type ClockState = "running" | "idle" | "held";

/** The state of a flow in a recording; a flow that the user ended early is `stopped`. */
export type FlowState = "waiting" | "running" | "done" | "failed" | "stopped";

/** The kind of a node with a shell; `root` is the machine itself. */
export type NodeKind = "host" | "router" | "switch" | "root";

/** A node of a running network. */
export interface NodeInfo {
  /** Its name. */
  name: string;
  /** What it is. */
  kind: NodeKind;
}

/** A running network. */
export interface SessionInfo {
  /** Identifies the session. */
  id: string;
  /** The name of the drawing. */
  name: string;
  /** Its kernel's release. */
  kernel: string;
  /** Decides all random numbers. */
  seed: number;
  /** The study's case that it is of; null for the bare network. */
  case: string | null;
  /** Its nodes, the machine itself first. */
  nodes: NodeInfo[];
}

/** The clock of a session. */
export interface Clock {
  /** The time, in seconds. */
  now_s: number;
  /** Whether time passes. */
  state: ClockState;
  /** Virtual seconds in a second of wall time, recently. */
  speed: number;
  /** What the user has set. */
  pace: PaceChoice;
  /** The number of terminals with a command in the foreground. */
  commands: number;
  /** Time passes as fast as possible until one of these ends. */
  skipping: boolean;
}

/** A metric of a flow, human-readable. */
export interface FlowResult {
  /** Its name without the flow's, such as `receiver_bps`. */
  name: string;
  /** Its label. */
  label: string;
  /** The value with its unit. */
  text: string;
}

/** A flow of a recording. */
export interface LiveFlow {
  /** Its name. */
  name: string;
  /** The program. */
  tool: string;
  /** The node of the client. */
  source: string;
  /** The node of the server. */
  target: string;
  /** Its state. */
  state: FlowState;
  /** When it began, in seconds; null before. */
  started_s: number | null;
  /** When it ended, in seconds; null before. */
  ended_s: number | null;
  /** The client's command line. */
  command: string;
  /** The tool's error message, if it failed. */
  words: string;
  /** By name without the flow's, in base units. */
  metrics: Record<string, number>;
  /** The same, human-readable. */
  results: FlowResult[];
  /** What limited it; null if unknown. */
  advice: Advice | null;
}

/** What a series is of. */
export type SeriesKind = "queue" | "tcp" | "rate" | "ping";

/** The unit of a series' values. */
export type SeriesUnit = "bit/s" | "s" | "bytes" | "packets" | "1";

/** The description of a series. */
export interface SeriesInfo {
  /** `KIND:OF:QUANTITY`, such as `queue:s1-eth2:backlog_bytes`. */
  key: string;
  /** What it is of. */
  kind: SeriesKind;
  /** The name of its interface or flow. */
  of: string;
  /** Throughput_bps (over a round trip), throughput_raw_bps, rtt_s, cwnd_bytes, backlog_bytes, drops, tx_bps, ... */
  quantity: string;
  /** The unit of its values. */
  unit: SeriesUnit;
  /** Its label. */
  label: string;
  /** A queue's capacity, in bytes, or an interface's rate, in bit/s; null if unknown or unlimited. */
  limit: number | null;
}

/** Points of one series in a binary message. */
export interface SeriesEntry {
  /** The series. */
  key: string;
  /** How many points. */
  count: number;
}

/** The head of a binary message with points of series. */
export interface SeriesHeader {
  /** The number of the recording. */
  recording: number;
  /** Whether this replaces the earlier points (after a reconnection), or is appended. */
  whole: boolean;
  /** The series. */
  entries: SeriesEntry[];
}

/** An event in a recording other than traffic. */
export interface Mark {
  /** `change` of a link or a set-up line, `command` at a terminal, or `event` of the study. */
  kind: "change" | "command" | "event";
  /** A description. */
  text: string;
  /** When, after the recording's start, in seconds. */
  at_s: number;
}

/** A reference value of a quantity, valid until the next one for that quantity. */
export interface Level {
  /** Such as `throughput_bps`. */
  quantity: string;
  /** Its label. */
  label: string;
  /** In the quantity's unit; null if there is none from then on. */
  value: number | null;
  /** From when it is valid, after the recording's start, in seconds. */
  from_s: number;
}

/** The measurements that start with one press of Run. */
export interface Recording {
  /** Its number in the session. */
  number: number;
  /** The case's name, if the study names any. */
  case: string | null;
  /** Its start, in seconds. */
  start_s: number;
  /** When the last of its flows has ended, in seconds; null before. */
  end_s: number | null;
  /** Its flows. */
  flows: LiveFlow[];
  /** What its lines are; their points are binary messages. */
  series: SeriesInfo[];
  /** Its events. */
  marks: Mark[];
  /** The reference values. */
  levels: Level[];
  /** Why its numbers may differ from those of the same case in Results. */
  differences: string[];
  /** The run directory that it was saved as, below the workspace; null before. */
  kept: string | null;
  /**
   * Of traffic that is typed at terminals, what was changed since the last recording, which may be nothing; null for a
   * press of Run.
   */
  label: string | null;
}

/** A terminal. */
export interface TerminalInfo {
  /** Its number. */
  id: number;
  /** The node of its shell. */
  node: string;
  /** The exit status of its shell; null while that runs. */
  status: number | null;
}

/** A capture of a session, running or finished. */
export interface LiveCapture {
  /** Its number. */
  number: number;
  /** The interface. */
  interface: string;
  /** In the syntax of pcap-filter(7). */
  filter: string;
  /** It is running. */
  going: boolean;
  /** Its size. */
  bytes: number;
  /** Why it has ended, if the user did not stop it. */
  words: string;
}

/** The whole state, always the first event. */
export interface StateEvent {
  event: "state";
  /** The session. */
  session: SessionInfo;
  /** Its clock. */
  clock: Clock;
  /** Its recordings; the last one is current. */
  recordings: Recording[];
  /** Its terminals. */
  terminals: TerminalInfo[];
  /** Its captures. */
  captures: LiveCapture[];
  /** As of `StaleEvent`. */
  stale: string[];
}

/** The clock has changed. */
export interface ClockEvent extends Clock {
  event: "clock";
}

/** A recording has begun or changed. */
export interface RecordingEvent {
  event: "recording";
  recording: Recording;
}

/** A terminal was opened, or its shell has ended. */
export interface TerminalEvent {
  event: "terminal";
  terminal: TerminalInfo;
}

/** A command typed at a terminal has ended. */
export interface TypedEvent {
  event: "typed";
  /** Its node. */
  node: string;
  /** The command. */
  line: string;
  /** Its exit status. */
  status: number;
}

/** Captures have changed. */
export interface CapturesEvent {
  event: "captures";
  captures: LiveCapture[];
}

/** What the running network cannot apply of the drawing has changed. */
export interface StaleEvent {
  event: "stale";
  /** Those changes: the network has to be restarted for them. */
  reasons: string[];
}

/** Run was pressed, and the drawn network differs in ways that need a restart. */
export interface RestartNeededEvent {
  event: "restart-needed";
  /** The differences. */
  reasons: string[];
}

/** A command failed, or there is a notice. */
export interface MessageEvent {
  event: "message";
  /** How serious it is. */
  level: "error" | "warning" | "info";
  /** The message. */
  text: string;
  /** The name of the command, if it was one. */
  about: string;
}

/** The output of an `ask`. */
export interface AnswerEvent {
  event: "answer";
  /** Identifies the question. */
  number: number;
  /** The output. */
  text: string;
}

/** Packets that a running network lost at one place, for one cause, between two hosts. */
export interface LiveLoss {
  /** The node that dropped them. */
  node: string;
  /** The interface at which they were; empty if they had left it. */
  interface: string;
  /** Their number since the machine's boot. */
  packets: number;
  /** Why, with the qdisc that did. */
  cause: string;
  /** What the cause means. */
  meaning: string;
  /** Their hosts, such as `h1 -> h2`. */
  flow: string;
  /** When the last was dropped, in seconds. */
  last_s: number;
}

/** Where the network has lost packets, on request. */
export interface LossesEvent {
  event: "losses";
  /** The losses, the most packets first. */
  losses: LiveLoss[];
}

/** The session has ended, always the last event. */
export interface EndedEvent {
  event: "ended";
  /** Why. */
  words: string;
}

/** An event of a session. */
export type SessionEvent = StateEvent | ClockEvent | RecordingEvent | TerminalEvent | TypedEvent | CapturesEvent | StaleEvent | RestartNeededEvent | MessageEvent | AnswerEvent | LossesEvent | EndedEvent;

/** A file in a session's machine. */
export interface SessionFile {
  /** Its path there. */
  path: string;
  /** Its size. */
  bytes: number;
}

// --------------------------------------------------------------------------------
// Live sessions: sizes on /ws/sessions/ID/terminals/N

/** The size of a terminal's window. */
export interface TerminalSize {
  /** In characters. */
  rows: number;
  /** In characters. */
  columns: number;
}

// --------------------------------------------------------------------------------
// The server's state (GET /api/state)

/** A request to log out. */
export interface LogOutRequest {
  /** Log out the other browsers, not this one. */
  others?: boolean;
}

/** A kernel that is built. */
export interface KernelInfo {
  /** Its series. */
  series: string;
  /** Its release. */
  release: string;
}

/** The state of the server when a page is opened. */
export interface ServerState {
  /** The version of longfat. */
  version: string;
  /** The workspace's folder. */
  workspace: string;
  /** The kernels that can be used. */
  kernels: KernelInfo[];
  /** The labs. */
  labs: LabEntry[];
  /** The running sessions. */
  sessions: SessionInfo[];
  /** The jobs. */
  jobs: JobInfo[];
  /** The declared fields. */
  fields: Fields;
}

// --------------------------------------------------------------------------------
// Live sessions: commands on /ws/sessions/ID

export type SessionOrder =
  /**
   * Start the flows of the case in a new recording, after the lines have run. `flows`: the names of the flows to start;
   * null for all. `text`: the drawing, as of `Update`; null if it has not changed. `case`: likewise. `lines`: commands
   * to run first.
   */
  | { do: "run"; flows?: string[] | null; text?: string | null; case?: string | null; lines?: SetupLine[] | null }
  /**
   * Apply the drawing to the running network: it was changed. `text`: the text of the study. `case`: the chosen case;
   * null for the only one, or the bare network.
   */
  | { do: "update"; text: string; case?: string | null }
  /** End the current recording with its flows. */
  | { do: "stop" }
  /** Hold the clock. */
  | { do: "hold" }
  /** Resume time after `hold`. */
  | { do: "go" }
  /** Let time advance, and hold it. `by_s`: by how much. */
  | { do: "step"; by_s: number }
  /** Set how fast time passes. `factor`: the pace. */
  | { do: "pace"; factor: PaceChoice }
  /** Pass time as fast as possible until a command typed at a terminal ends; or stop that. */
  | { do: "skip" }
  /**
   * Start a shell in a new terminal. `rows`: in characters. `columns`: in characters. `node`: a host, a switch, or
   * root.
   */
  | { do: "open-terminal"; rows: number; columns: number; node: string }
  /** Close a terminal; its shell gets SIGHUP. `id`: its number. */
  | { do: "close-terminal"; id: number }
  /**
   * Type commands at a terminal of each node whose shell is at its prompt, or at a new one. `nodes`: the nodes. `text`:
   * the commands.
   */
  | { do: "type"; nodes: string[]; text: string }
  /**
   * Run a command at a node, advancing time only as far as it needs; see `AnswerEvent`. `number`: identifies the
   * answer. `node`: the node. `line`: the command.
   */
  | { do: "ask"; number: number; node: string; line: string }
  /** Send where the network has lost packets since its boot; see `LossesEvent`. */
  | { do: "losses" }
  /**
   * Capture packets at an interface. `interface`: the interface. `filter`: in the syntax of pcap-filter(7); empty for
   * all packets.
   */
  | { do: "capture"; interface: string; filter?: string }
  /** Stop a capture; its packets are kept. `id`: its number. */
  | { do: "end-capture"; id: number };
