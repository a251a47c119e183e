/** A stream's time-sequence plot, with a legend of its colours. */

import { useEffect, useRef, useState } from "react";
import { useStore } from "zustand";

import { getJson, errorMessage } from "../api/client";
import type { PacketStream, TimeSequence } from "../api/types";
import { useThemeVersion } from "../charts/useThemeVersion";
import { hoveredInCharts, hoverPacket, type ChartView } from "../charts/view";
import { address } from "./capture";
import { SequencePlot } from "./sequencePlot";

interface SequenceViewProps {
  capture: string;
  stream: PacketStream;
  origin_s: number;
  view: ChartView;
  choose: (time_s: number, number: number | null) => void;
}

const KEY = [
  ["accent", "sent"],
  ["bad", "retransmission"],
  ["lane-full", "came late"],
  ["good", "acknowledged"],
  ["warn", "window's end"],
  ["flow", "SACK; dots: CE"],
] as const;

export function SequenceView({ capture, stream, origin_s, view, choose }: SequenceViewProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<SequencePlot | null>(null);
  const [data, setData] = useState<TimeSequence | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [reverse, setReverse] = useState<boolean | null>(null);
  const [unit, setUnit] = useState("");
  const theme = useThemeVersion();
  const at = useStore(view.store, (state) => state.at);
  const moment = useRef(at);
  moment.current = at;
  const chosen = useRef(choose);
  chosen.current = choose;
  const { number, ends } = stream;

  useEffect(() => setReverse(null), [number]);
  useEffect(() => {
    let current = true;
    setFailure(null);
    const url = address("/api/packet-sequence", capture, { stream: number, ...(reverse !== null && { reverse }) });
    getJson<TimeSequence>(url).then(
      (found) => current && setData(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [capture, number, reverse]);

  useEffect(() => {
    const element = place.current;
    if (element === null || data === null) return undefined;
    const made = new SequencePlot(element, data, origin_s, {
      choose: (time_s, packet) => chosen.current(time_s, packet),
      unit: setUnit,
      hover: (time_s) => hoverPacket(view, time_s),
    });
    plot.current = made;
    made.setMoment(moment.current);
    made.setHover(hoveredInCharts(view.store.getState()));
    const stop = view.store.subscribe((state) => made.setHover(hoveredInCharts(state)));
    return () => {
      stop();
      hoverPacket(view, null);
      plot.current = null;
      made.destroy();
    };
  }, [data, origin_s, theme, view]);
  useEffect(() => plot.current?.setMoment(at), [at]);

  const sender = ends[data?.reverse === true ? 1 : 0];
  return (
    <div className="sequence">
      <div className="tool-row">
        <span>
          data of <strong>{`${sender.address}:${sender.port}`}</strong>
          {unit !== "" && `, in ${unit}`}
        </span>
        <button type="button" className="small-button" onClick={() => setReverse(!(data?.reverse ?? false))}>
          Other direction
        </button>
        <button type="button" className="small-button" onClick={() => plot.current?.reset()}>
          Show all
        </button>
        {data !== null && data.thinned > 1 && <span className="dim">1 in {data.thinned} segments and all retransmissions are shown</span>}
      </div>
      {failure !== null && <p role="alert">{failure}</p>}
      <div className="sequence-frame">
        <div
          ref={place}
          className="sequence-place"
          role="img"
          aria-label={data === null ? "Time-sequence plot" : `Time-sequence plot of stream ${number}: ${data.sent.seq.length} segments, ${data.sent.repeated.filter((one) => one === 1).length} retransmissions`}
          title="Drag to zoom, click a segment for its packet, double-click to reset"
        />
        <ul className="sequence-key" aria-label="Colours">
          {KEY.map(([colour, words]) => (
            <li key={words}>
              <i style={{ background: `var(--${colour})` }} /> {words}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
