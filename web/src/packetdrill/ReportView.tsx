/** The report of a script: passed, or which event failed and how. */

import type { PacketdrillFailure, PacketdrillReport } from "../api/types";

interface ReportViewProps {
  report: PacketdrillReport;
  /** The text has changed since it ran. */
  isOld: boolean;
  goTo: (line: number) => void;
}

export function ReportView({ report, isOld, goTo }: ReportViewProps) {
  const { status, error, failure, warnings, output } = report;
  return (
    <section className="script-report" aria-label="Report">
      <p role="status" className="script-status">
        <b className={status === "passed" ? "script-passed" : "script-failed"}>{status}</b> <span>{summary(report)}</span>
        {isOld && <span className="dim">The text has changed since.</span>}
      </p>
      {error !== null && (
        <p className="script-words">
          {error.line !== null && <Line line={error.line} goTo={goTo} />} {error.message}
        </p>
      )}
      {failure !== null && <Failed failure={failure} goTo={goTo} />}
      {warnings.map((warning, index) => (
        <Failed key={index} failure={warning} goTo={goTo} />
      ))}
      {output !== "" && (
        <details open={failure !== null}>
          <summary>Output of its commands</summary>
          <pre tabIndex={0}>{output}</pre>
        </details>
      )}
    </section>
  );
}

function Line({ line, goTo }: { line: number; goTo: (line: number) => void }) {
  return (
    <button type="button" className="link-button" onClick={() => goTo(line)}>
      Line {line}
    </button>
  );
}

function Failed({ failure, goTo }: { failure: PacketdrillFailure; goTo: (line: number) => void }) {
  const { line, message, event, expected, actual, expected_ns, actual_ns, differences, sent } = failure;
  const isCompared = actual !== null || actual_ns !== null || expected_ns !== null;
  const found = sent ?? actual ?? (actual_ns === null ? null : "");
  return (
    <div className="script-failure">
      <p className="script-words">
        {line > 0 && <Line line={line} goTo={goTo} />} {message}
      </p>
      <table>
        <tbody>
          {event !== null && expected !== null && <Row name="of" time_ns={null} words={event} />}
          {(expected ?? event) !== null && <Row name={isCompared ? "expected" : "event"} time_ns={expected_ns} words={expected ?? event ?? ""} />}
          {found !== null && <Row name="actual" time_ns={actual_ns} words={found} />}
        </tbody>
      </table>
      {differences.length > 0 && (
        <table className="script-differences">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Expected</th>
              <th scope="col">Actual</th>
            </tr>
          </thead>
          <tbody>
            {differences.map(({ field, expected: wanted, actual: was }) => (
              <tr key={field}>
                <th scope="row">{field}</th>
                <td>{wanted}</td>
                <td>{was}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function Row({ name, time_ns, words }: { name: string; time_ns: number | null; words: string }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="script-time">{time_ns === null ? "" : `${(time_ns / 1e9).toFixed(9).replace(/0{1,3}$/, "")} s`}</td>
      <td>
        <code>{words}</code>
      </td>
    </tr>
  );
}

/** Summary: packets, timing deviation, kernel. */
export function summary({ packets, deviation_s, deviation_line, ip_version, kernel, virtual_s, wall_s }: PacketdrillReport): string {
  const parts = [];
  if (packets !== undefined) parts.push(packets === 1 ? "1 packet as expected" : `${packets} packets as expected`);
  if (deviation_s != null) parts.push(`at most ${timeWords(deviation_s)} off, in line ${deviation_line}`);
  parts.push(ip_version, `kernel ${kernel}`);
  if (virtual_s !== undefined && wall_s !== undefined) parts.push(`${virtual_s.toFixed(2)} s of virtual time in ${wall_s.toFixed(1)} s`);
  return parts.join(" · ");
}

function timeWords(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 1e-6) return `${Math.round(size * 1e9)} ns`;
  return size < 1e-3 ? `${(size * 1e6).toFixed(1)} µs` : `${(size * 1e3).toFixed(3)} ms`;
}
