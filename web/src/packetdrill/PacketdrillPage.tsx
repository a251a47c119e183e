/** packetdrill scripts: an editor, runs against a kernel in virtual time, and their reports. */

import { useEffect, useMemo, useState } from "react";
import { errorMessage } from "../api/client";
import type { Problem } from "../api/types";
import { Dialog } from "../app/Dialog";
import { useKernels, useServer } from "../app/server";
import { attempt, openScript } from "../files/actions";
import { PacketDetails } from "../packets/PacketDetails";
import { PacketList } from "../packets/PacketList";
import { PacketRows, address } from "../packets/capture";
import { ReportView } from "./ReportView";
import { ScriptEditor } from "./ScriptEditor";
import { usePacketdrill } from "./store";
import type { OpenScript } from "./store";
import "../packets/packets.css";
import "./packetdrill.css";

export function ScriptPackets({ number }: { number: string }) {
  const capture = `script=${encodeURIComponent(number)}`;
  const [diagram, setDiagram] = useState(false);
  const [revision, setRevision] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const rows = useMemo(() => new PacketRows(capture, "", () => setRevision((one) => one + 1), (error) => setFailure(errorMessage(error))), [capture]);
  useEffect(() => {
    setChosen(null);
    setFailure(null);
  }, [capture]);
  return (
    <section className="script-packets packets" aria-label="Packets of the run">
      <div className="tool-row">
        <div role="group" aria-label="View" className="packets-views">
          <button type="button" className="small-button" aria-pressed={!diagram} onClick={() => setDiagram(false)}>
            List
          </button>
          <button type="button" className="small-button" aria-pressed={diagram} onClick={() => setDiagram(true)}>
            Between hosts
          </button>
        </div>
        <span className="dim">{rows.total === null ? "" : `${rows.total} packets`}</span>
        <span className="grow" />
        <a className="small-button" href={address("/api/packets.pcapng", capture)} download="packets.pcapng">
          Save as pcapng
        </a>
      </div>
      {failure !== null && (
        <p role="alert" className="packets-words">
          {failure}
        </p>
      )}
      <div className="packets-body">
        <PacketList rows={rows} revision={revision} origin_s={0} chosen={chosen} goTo={null} choose={(row) => setChosen(row.number)} hover={() => undefined} near={null} diagram={diagram} />
        {chosen !== null && !diagram && <PacketDetails capture={capture} number={chosen} close={() => setChosen(null)} />}
      </div>
    </section>
  );
}

const NOTHING: readonly Problem[] = [];

export function PacketdrillPage() {
  const { overview, failure, script, list } = usePacketdrill();
  const [isNew, setIsNew] = useState(false);
  useEffect(() => {
    void list();
    void useServer.getState().load();
    const keep = () => void usePacketdrill.getState().save();
    window.addEventListener("pagehide", keep);
    return () => {
      keep();
      window.removeEventListener("pagehide", keep);
    };
  }, [list]);
  return (
    <section className="packetdrill" aria-label="packetdrill">
      <nav aria-label="Scripts" className="script-list">
        <h1>packetdrill</h1>
        <button type="button" className="small-button" onClick={() => setIsNew(true)}>
          New script…
        </button>
        <ul>
          {overview?.scripts.map(({ path }) => (
            <li key={path}>
              <button type="button" aria-current={script?.path === path ? "true" : undefined} title={path} onClick={() => void openScript(path)}>
                {path}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      <div className="script-main">
        {failure !== null && <p role="alert">{failure}</p>}
        {script === null ? <Introduction begin={() => setIsNew(true)} /> : <Script key={script.path} script={script} />}
      </div>
      {isNew && <NewScript close={() => setIsNew(false)} />}
    </section>
  );
}

function Introduction({ begin }: { begin: () => void }) {
  return (
    <div className="script-introduction">
      <p>
        A packetdrill script tests a TCP/IP stack from outside: it specifies which packets arrive, which system calls a program
        makes, and which packets the kernel must send, each at its time. It runs in its own machine, in virtual time.
      </p>
      <p>
        Open a script of the workspace at the left, or{" "}
        <button type="button" className="link-button" onClick={begin}>
          start with an example
        </button>
        .
      </p>
    </div>
  );
}

function Script({ script }: { script: OpenScript }) {
  const { running, reports, run } = usePacketdrill();
  const [goTo, setGoTo] = useState<{ line: number; request: number } | null>(null);
  const last = reports[script.path];
  const isOld = last !== undefined && last.text !== script.text;
  const failed = last === undefined || isOld ? undefined : last.report.failure;
  const problems = useMemo(
    () => (failed == null || failed.line < 1 ? script.problems : [...script.problems, { message: failed.message, line: failed.line, column: failed.column, field: "" }]),
    [failed, script.problems],
  );
  const show = (line: number) => setGoTo((before) => ({ line, request: (before?.request ?? 0) + 1 }));
  return (
    <>
      <header className="script-head">
        <h2>{script.path}</h2>
        <span className="dim" role="status">
          {script.failure !== null ? "Not saved" : script.text === script.saved ? "Saved" : "Saving…"}
        </span>
        <span className="grow" />
        <Options path={script.path} />
        {running === null ? (
          <button type="button" className="run-button" title="Run (Ctrl+Enter)" onClick={() => void run()}>
            ▶ Run
          </button>
        ) : (
          <button type="button" className="small-button" onClick={running.cancel}>
            Cancel
          </button>
        )}
      </header>
      <SaveProblem script={script} />
      <ScriptEditor path={script.path} text={script.text} problems={problems} warnings={NOTHING} goTo={goTo} />
      <div className="script-results">
        {running !== null && <p role="status">{running.waits ?? `Running ${running.path}…`}</p>}
        {running === null && script.problems.map((problem) => (
          <p key={problem.message} className="script-words">
            <button type="button" className="link-button" onClick={() => show(problem.line ?? 1)}>
              Line {problem.line ?? 1}
            </button>{" "}
            {problem.message}
          </p>
        ))}
        {running === null && last !== undefined && (
          <>
            <ReportView report={last.report} isOld={isOld} goTo={show} />
            {last.report.capture !== null && <ScriptPackets key={last.report.capture} number={last.report.capture} />}
          </>
        )}
        {running === null && last === undefined && script.problems.length === 0 && <p className="dim">Press Run, or Ctrl+Enter in the text.</p>}
      </div>
    </>
  );
}

function SaveProblem({ script }: { script: OpenScript }) {
  const { save, open } = usePacketdrill();
  if (script.failure === null) return null;
  const { message, conflict } = script.failure;
  return (
    <div role="alert" className="script-conflict">
      {conflict ? `${script.path} was changed by another program or page.` : message}
      {conflict && (
        <>
          <button type="button" className="small-button" onClick={() => void save({ force: true })}>
            Overwrite
          </button>
          <button
            type="button"
            className="small-button"
            onClick={() => {
              usePacketdrill.setState({ script: null });
              void attempt(`${script.path} could not be opened.`, () => open(script.path));
            }}
          >
            Reload the file
          </button>
        </>
      )}
    </div>
  );
}

function Options({ path }: { path: string }) {
  const { overview, kernel, ip_version, root, choose } = usePacketdrill();
  const kernels = useKernels();
  const folders = foldersAbove(path);
  return (
    <>
      <label className="script-option">
        Kernel
        <select value={kernel ?? ""} onChange={(event) => choose({ kernel: event.target.value || null })}>
          <option value="">newest</option>
          {kernels.map(({ series, release }) => (
            <option key={series} value={series}>
              {release}
            </option>
          ))}
        </select>
      </label>
      <label className="script-option">
        IP
        <select value={ip_version ?? ""} onChange={(event) => choose({ ip_version: event.target.value || null })}>
          <option value="">as in the script</option>
          {overview?.ip_versions.map((version) => (
            <option key={version} value={version}>
              {version}
            </option>
          ))}
        </select>
      </label>
      {folders.length > 1 && (
        <label className="script-option" title="The folder that the script's commands see, read-only">
          Folder
          <select value={root ?? folders[0]} onChange={(event) => choose({ root: event.target.value })}>
            {folders.map((folder) => (
              <option key={folder} value={folder}>
                {folder === "" ? "the workspace" : folder}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

/** The folder of a file and those above it, up to the workspace, which is "". */
export function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return Array.from({ length: parts.length + 1 }, (_, count) => parts.slice(0, parts.length - count).join("/"));
}

const EMPTY = `// The kernel's response to an incoming connection.
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0

   +0 < S 0:0(0) win 65535 <mss 1460,nop,nop,sackOK,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <...>
  +.1 < . 1:1(0) ack 1 win 512
   +0 accept(3, ..., ...) = 4
`;

function NewScript({ close }: { close: () => void }) {
  const { overview, create } = usePacketdrill();
  const [path, setPath] = useState("script.pkt");
  const [example, setExample] = useState("");
  const [failure, setFailure] = useState<string | null>(null);
  const taken = overview?.scripts.some((one) => one.path === path.trim()) ?? false;
  const problem = taken ? "A script with this name exists." : path.trim().endsWith(".pkt") ? failure : "The name must end in .pkt.";
  return (
    <Dialog title="New script" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = overview?.examples.find(({ name }) => name === example)?.text ?? EMPTY;
          create(path.trim(), text).then(close, (error: unknown) => setFailure(errorMessage(error)));
        }}
      >
        <div className="field field-wide">
          <label htmlFor="script-example">Start with</label>
          <select
            id="script-example"
            value={example}
            onChange={(event) => {
              setExample(event.target.value);
              setFailure(null);
              if (event.target.value !== "") setPath(event.target.value);
            }}
          >
            <option value="">a handshake only</option>
            {overview?.examples.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <div className="field field-wide">
          <label htmlFor="script-path">File in the workspace</label>
          <input
            id="script-path"
            type="text"
            spellCheck={false}
            value={path}
            aria-invalid={problem !== null}
            aria-describedby="script-problem"
            onChange={(event) => {
              setPath(event.target.value);
              setFailure(null);
            }}
          />
          <p id="script-problem" className={problem === null ? "field-hint" : "field-problem"} aria-live="polite">
            {problem ?? "Ends in .pkt."}
          </p>
        </div>
        <div className="dialog-buttons">
          <button type="submit" className="main" disabled={taken || !path.trim().endsWith(".pkt")}>
            Create
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
