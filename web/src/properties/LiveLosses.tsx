/** The packets that a running network has lost at interfaces, and why, as its kernel counts them. */

import { useEffect } from "react";

import type { LiveLoss } from "../api/types";
import { useLive, useSession } from "../live/store";

const EVERY_MS = 1000;
const MAX_ROWS = 8;

interface LiveLossesProps {
  sessionId: string | null;
  /** The node whose losses to show without an interface; null for those of interfaces alone. */
  node: string | null;
  interfaces: readonly string[];
}

/** The losses at a node or at interfaces. */
export function lossesAt(losses: readonly LiveLoss[], node: string | null, interfaces: readonly string[]): LiveLoss[] {
  return losses.filter((one) => (one.interface === "" ? node !== null && one.node === node : interfaces.includes(one.interface)));
}

export function LiveLosses({ sessionId, node, interfaces }: LiveLossesProps) {
  const view = useSession(sessionId);
  const isOpen = view?.link === "open";
  const isRunning = view?.clock?.state === "running";
  const send = useLive((state) => state.send);

  // Counts change only while time passes; once more when it stops.
  useEffect(() => {
    if (sessionId === null || !isOpen) return undefined;
    send(sessionId, { do: "losses" });
    if (!isRunning) return undefined;
    const timer = setInterval(() => send(sessionId, { do: "losses" }), EVERY_MS);
    return () => clearInterval(timer);
  }, [sessionId, isOpen, isRunning, send]);

  const losses = view?.losses;
  if (!isOpen || losses === null || losses === undefined) return null;
  const found = lossesAt(losses, node, interfaces);
  return (
    <section className="group live-losses" aria-label="Lost packets">
      <h3>Lost packets since the start</h3>
      {found.length === 0 ? (
        <p className="dim">None here.</p>
      ) : (
        <div className="value-table" role="group" aria-label="Lost packets" tabIndex={0}>
          <table className="plain-table">
            <thead>
              <tr>
                <th>Packets</th>
                <th>At</th>
                <th>Cause, hosts</th>
              </tr>
            </thead>
            <tbody>
              {found.slice(0, MAX_ROWS).map((loss, index) => (
                <tr key={index}>
                  <td>{loss.packets.toLocaleString("en")}</td>
                  <td>{loss.interface || loss.node}</td>
                  <td title={loss.meaning}>
                    {loss.cause}
                    <br />
                    <span className="dim">{loss.flow}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          {found.length > MAX_ROWS && <p className="dim">And {found.length - MAX_ROWS} more kinds.</p>}
        </div>
      )}
    </section>
  );
}
