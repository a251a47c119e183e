/** A table of where a run lost packets. */

import type { RunLoss } from "../api/types";

/** The maximum number of rows. */
const MAX_ROWS = 20;

interface LossTableProps {
  losses: readonly RunLoss[];
  /** The run, for the command that lists the others. */
  path: string;
  /** Shows the moment of a loss; without it, times are text. */
  show?: (at_s: number) => void;
}

export function LossTable({ losses, path, show }: LossTableProps) {
  if (losses.length === 0) return <p>No packet was lost while the traffic played.</p>;
  return (
    <div className="value-table">
      <table className="plain-table">
        <thead>
          <tr>
            <th>Packets</th>
            <th>At</th>
            <th>Cause</th>
            <th>Flow</th>
            <th>Time</th>
          </tr>
        </thead>
        <tbody>
          {losses.slice(0, MAX_ROWS).map((loss, index) => (
            <tr key={index}>
              <td>{loss.packets.toLocaleString("en")}</td>
              <td>{loss.place}</td>
              <td title={loss.meaning}>{loss.cause}</td>
              <td>{loss.flow}</td>
              <td>
                {show === undefined ? (
                  span(loss)
                ) : (
                  <button type="button" className="small" title="Show the network when the first packet was lost" onClick={() => show(loss.first_s)}>
                    {span(loss)}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {losses.length > MAX_ROWS && (
        <p>
          And {losses.length - MAX_ROWS} more: <code>longfat losses {path}</code>
        </p>
      )}
    </div>
  );
}

function span({ first_s, last_s }: RunLoss): string {
  return `${first_s.toFixed(2)}–${last_s.toFixed(2)} s`;
}
