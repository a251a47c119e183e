/** A card on the canvas with each flow's metrics at the displayed time. */

import { useMemo } from "react";
import { useStore } from "zustand";

import { styleIndicesOf, styleOf } from "../charts/lineStyles";
import { Swatch } from "../charts/Swatch";
import { chartViewOf } from "../charts/view";
import { formatClock, formatQuantity } from "../live/quantities";
import { useSession } from "../live/store";
import { latestOf, nameOf, type SessionView } from "../live/view";
import { downAt, flowsAt, ratesAt } from "./moments";
import { useMoment } from "./player";

/** `place`: over the canvas if there is room, else below it; the style sheet shows one of the two. */
export function MomentCard({ sessionId, place, of }: { sessionId: string | null; place: "canvas" | "line"; of?: string }) {
  const view = useSession(sessionId);
  return view === undefined ? null : <Card view={view} place={place} of={of} />;
}

function Card({ view, place, of: whose }: { view: SessionView; place: "canvas" | "line"; of: string | undefined }) {
  const at = useMoment(view.seriesStore);
  const earlier = useStore(chartViewOf(view.seriesStore).store, (state) => state.earlier);
  const recording = latestOf(view);
  const styleIndices = useMemo(() => styleIndicesOf(view.recordings), [view.recordings]);
  if (at === null || recording === null) return null;
  // Recordings behind it in the charts are compared at the same time after their own start.
  const shown = [recording, ...view.recordings.filter((one) => one !== recording && earlier.has(one.number)).reverse()];
  const flows = shown.flatMap((one) => flowsAt(one, view.seriesStore, at).map((flow) => ({ ...flow, of: one })));
  const rates = ratesAt(recording, view.seriesStore, at);
  // Each link is listed under both orders of its ends.
  const down = [...downAt(recording, at)].filter((name) => name <= name.split(" ").reverse().join(" "));
  return (
    <section className={`moment moment-${place}`} aria-label={`Flows at the displayed time${whose === undefined ? "" : ` of ${whose}`}`}>
      <table>
        <caption>{formatClock(at + recording.start_s)}</caption>
        <thead>
          <tr>
            <th>flow</th>
            <th>throughput</th>
            <th>RTT</th>
            <th>window</th>
          </tr>
        </thead>
        <tbody>
          {flows.map(({ of, name, throughput_bps, rtt_s, cwnd_bytes }) => (
            <tr key={`${of.number} ${name}`}>
              <td>
                <Swatch style={styleOf(styleIndices.flow(name))} earlier={of !== recording} /> {name}
                {shown.length > 1 && <span className="dim"> {nameOf(of)}</span>}
              </td>
              <td>{formatQuantity(throughput_bps, "bit/s")}</td>
              <td>{formatQuantity(rtt_s, "s")}</td>
              <td>{formatQuantity(cwnd_bytes, "bytes")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {flows.length === 0 && <p>No flow has run yet.</p>}
      {rates.map(({ name, rate_bps }) => (
        <p key={name} className="moment-rate">
          rate of {name}: {rate_bps === null ? "none" : formatQuantity(rate_bps, "bit/s")}
        </p>
      ))}
      {down.length > 0 && <p className="moment-down">down: {down.join(", ")}</p>}
    </section>
  );
}
