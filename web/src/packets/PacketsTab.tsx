/** The dock's packets: captures of the session, or saved captures of a run. */

import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";

import { getJson, errorMessage } from "../api/client";
import type { SavedCapture, LiveCapture, PacketCapture, PacketRow } from "../api/types";
import { ChartsColumn } from "../charts/ChartsTab";
import { chartViewOf, hoverPacket } from "../charts/view";
import { useDock } from "../live/dockStore";
import { pathsOf } from "../live/shownRun";
import { useLive } from "../live/store";
import { latestOf, type SessionView } from "../live/view";
import { showMoment } from "../timeline/player";
import { address, loadCapture, PacketRows, Reloader } from "./capture";
import { PacketDetails } from "./PacketDetails";
import { PacketList, type ScrollTarget } from "./PacketList";
import { SequenceView } from "./SequenceView";
import { NO_PACKETS, usePackets, type PacketsState, type PacketsView } from "./store";
import { StreamView } from "./StreamView";
import { useNearRow } from "./useNearRow";
import "../live/dock.css";
import "uplot/dist/uPlot.min.css";
import "./packets.css";

export function PacketsTab({ view }: { view: SessionView | undefined }) {
  const kept = useKept(view?.run ?? null);
  const state = usePackets((all) => (view === undefined ? undefined : all.sessions[view.id])) ?? NO_PACKETS;
  if (view === undefined) return <Nothing />;
  const recording = latestOf(view);
  const start_s = recording?.start_s ?? 0;
  if (view.run !== null) {
    const name = kept.find((one) => one.name === state.capture)?.name ?? kept[0]?.name;
    if (name === undefined) return <p className="empty">This run has no captures. Add a probe to its study, such as <code>{"{kind: capture, of: h1-eth0}"}</code>.</p>;
    const [run = ""] = pathsOf(view.run.replaceAll(", ", "\n"));
    const capture = `run=${encodeURIComponent(run)}&probe=${encodeURIComponent(name)}`;
    const choices = kept.map((one) => ({ id: one.name, words: `${one.name}: ${one.interface}` }));
    return <Packets key={view.id} session={view} state={state} capture={capture} chosen={name} choices={choices} going={null} size={0} />;
  }
  const live = view.captures.find((one) => String(one.number) === state.capture) ?? view.captures.at(-1);
  if (live === undefined) return <Nothing />;
  const capture = `session=${encodeURIComponent(view.id)}&capture=${live.number}&start=${start_s}`;
  const choices = view.captures.map((one) => ({ id: String(one.number), words: wordsFor(one) }));
  return <Packets key={view.id} session={view} state={state} capture={capture} chosen={String(live.number)} choices={choices} going={live} size={live.bytes} />;
}

function Nothing() {
  return (
    <p className="empty">
      Right-click a link or a node and choose <strong>Capture packets at …</strong>: packets at that
      interface are decoded here. Captures by a study's probes are shown with their runs.
    </p>
  );
}

function wordsFor({ number, interface: name, filter, going }: LiveCapture): string {
  return `${number}: ${name}${filter === "" ? "" : `, ${filter}`}${going ? " ●" : ""}`;
}

function useKept(run: string | null): SavedCapture[] {
  const [kept, setKept] = useState<SavedCapture[]>([]);
  useEffect(() => {
    setKept([]);
    const [path] = run === null ? [] : run.split(", ");
    if (path === undefined) return undefined;
    let current = true;
    getJson<SavedCapture[]>(`/api/captures?run=${encodeURIComponent(path)}`).then(
      (found) => current && setKept(found),
      () => undefined, // The tab shows that there are none.
    );
    return () => {
      current = false;
    };
  }, [run]);
  return kept;
}

interface PacketsProps {
  session: SessionView;
  state: PacketsState;
  /** Its URL on the server. */
  capture: string;
  chosen: string;
  choices: { id: string; words: string }[];
  /** The capture, if it is of a live session. */
  going: LiveCapture | null;
  size: number;
}

function Packets({ session, state, capture, chosen, choices, going, size }: PacketsProps) {
  const isGoing = going?.going ?? false;
  // tcpdump writes the head of its file when it runs: while time is held there is none.
  const isEmpty = going !== null && size === 0;
  const { about, failure } = useAbout(isEmpty ? null : capture, `${isGoing} ${size}`);
  const change = (next: Partial<PacketsState>) => usePackets.getState().change(session.id, next);
  const named = about === null ? "" : `${capture}&version=${encodeURIComponent(about.version)}`;
  const { hasChartsBeside, setChartsBeside } = useDock();
  return (
    <div className="packets">
      <div className="tool-row">
        <select aria-label="Capture" value={chosen} onChange={(event) => change({ capture: event.target.value, number: null, stream: null })}>
          {choices.map(({ id, words }) => (
            <option key={id} value={id}>
              {words}
            </option>
          ))}
        </select>
        {going !== null && isGoing && (
          <button type="button" className="small-button" onClick={() => useLive.getState().send(session.id, { do: "end-capture", id: going.number })}>
            Stop capturing
          </button>
        )}
        {about !== null && (
          <>
            <Decoder about={about} />
            <a className="small-button" href={address("/api/packets.pcapng", named, { filter: state.filter })} download="packets.pcapng" title="The packets that match the filter, for Wireshark">
              Save as pcapng
            </a>
          </>
        )}
        <button
          type="button"
          className="small-button packets-beside"
          aria-pressed={hasChartsBeside}
          title="Show the charts beside the packets, with linked cursors"
          onClick={() => setChartsBeside(!hasChartsBeside)}
        >
          Show charts
        </button>
      </div>
      {going !== null && going.words !== "" && <p className="packets-words">{going.words}</p>}
      {failure !== null && <p role="alert" className="packets-words">{failure}</p>}
      {isEmpty && (
        <p role="status" className="empty">
          {isGoing ? "No packets yet: the capture begins when time passes." : "No packets were captured."}
        </p>
      )}
      {!isEmpty && about === null && failure === null && <p role="status" className="empty">Decoding the packets…</p>}
      {about !== null && (
        <div className="packets-parts">
          {hasChartsBeside && <ChartsColumn session={session} />}
          <div className="packets-decoded">
            <Decoded key={chosen} session={session} state={state} about={about} base={capture} capture={named} change={change} />
          </div>
        </div>
      )}
    </div>
  );
}

/**
 * Describes a capture, again whenever its state changes.
 *
 * @param capture - its URL; null while there is nothing to describe.
 */
function useAbout(capture: string | null, state: string): { about: PacketCapture | null; failure: string | null } {
  const [found, setFound] = useState<{ of: string | null; about: PacketCapture | null; failure: string | null }>({ of: "", about: null, failure: null });
  const reloader = useRef<Reloader | null>(null);
  useEffect(() => {
    if (capture === null) return undefined;
    let current = true;
    const made = new Reloader(() =>
      loadCapture(capture).then(
        (about) => void (current && setFound({ of: capture, about, failure: null })),
        (error: unknown) => void (current && setFound({ of: capture, about: null, failure: errorMessage(error) })),
      ),
    );
    reloader.current = made;
    return () => {
      current = false;
      made.stop();
    };
  }, [capture]);
  useEffect(() => {
    if (capture !== null) reloader.current?.request();
  }, [capture, state]);
  return found.of === capture ? found : { about: null, failure: null };
}

function Decoder({ about: { packets, is_cut, decoder } }: { about: PacketCapture }) {
  return (
    <>
      <span className="dim" role="status">
        {packets.toLocaleString("en")} packets{is_cut && " decoded of a longer capture"}
      </span>
      <span className="grow" />
      <details className="packets-decoder">
        <summary>
          decoded by {decoder.name} {decoder.version}
        </summary>
        <p>
          {decoder.why !== "" && `${decoder.why}. `}
          {decoder.lacks}.
        </p>
      </details>
    </>
  );
}

const VIEWS: { view: PacketsView; label: string }[] = [
  { view: "list", label: "List" },
  { view: "diagram", label: "Between hosts" },
  { view: "sequence", label: "Time-sequence" },
  { view: "stream", label: "Follow" },
];

interface DecodedProps {
  session: SessionView;
  state: PacketsState;
  about: PacketCapture;
  /** Its URL on the server, whatever its state. */
  base: string;
  /** The same for the state that is shown. */
  capture: string;
  change: (next: Partial<PacketsState>) => void;
}

function Decoded({ session, state, about, base, capture, change }: DecodedProps) {
  const { filter, view, number } = state;
  const [text, setText] = useState(filter);
  const [revision, setRevision] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const [goTo, setGoTo] = useState<ScrollTarget | null>(null);
  const charts = chartViewOf(session.seriesStore);
  const at = useStore(charts.store, (one) => one.at);
  const origin_s = latestOf(session)?.start_s ?? 0;
  const last = useRef<{ base: string; rows: PacketRows } | null>(null);
  const rows = useMemo(() => {
    setFailure(null);
    const before = last.current?.base === base && last.current.rows.filter === filter ? last.current.rows : null;
    const made = new PacketRows(capture, filter, () => setRevision((one) => one + 1), (error) => setFailure(errorMessage(error)), before);
    last.current = { base, rows: made };
    return made;
  }, [base, capture, filter]);
  const stream = about.streams.find((one) => one.number === state.stream) ?? mostOf(about);

  const scrollTo = (row: number, isPointed = false) => setGoTo((last) => ({ row, isPointed, number: (last?.number ?? 0) + 1 }));
  const near = useNearRow(rows, revision, charts, (row) => scrollTo(row, true));
  // The hovered packet is removed with the list.
  useEffect(() => () => hoverPacket(charts, null), [charts, view]);
  const find = (wanted: { number: number } | { time: number }) => {
    rows.placeOf(wanted).then(
      (row) => scrollTo(row),
      () => undefined, // The list itself shows the error.
    );
  };
  // Follows the timeline's time, unless that was chosen here.
  const [shown_s, setShown_s] = useState<number | null>(null);
  useEffect(() => {
    if (at === null || at === shown_s) return undefined;
    const timer = setTimeout(() => find({ time: at }), 100);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a one-time request, not a dependency of the list
  }, [at, rows]);

  const showTime = (time_s: number) => {
    if (time_s < 0) return;
    setShown_s(time_s);
    showMoment(charts, time_s);
  };
  const choose = (row: PacketRow) => {
    change({ number: row.number, ...(row.stream?.kind === "tcp" && { stream: row.stream.number }) });
    showTime(row.time_s);
  };
  const showPacket = (wanted: number) => {
    change({ view: "list", number: wanted });
    find({ number: wanted });
  };
  const isList = view === "list" || view === "diagram";

  return (
    <>
      <form
        className="tool-row packets-filter"
        onSubmit={(event) => {
          event.preventDefault();
          change({ filter: text.trim() });
        }}
      >
        <div role="group" aria-label="View" className="packets-views">
          {VIEWS.map(({ view: each, label }) => (
            <button key={each} type="button" className="small-button" aria-pressed={view === each} disabled={stream === null && (each === "sequence" || each === "stream")} onClick={() => change({ view: each })}>
              {label}
            </button>
          ))}
        </div>
        {isList ? (
          <>
            <input
              type="search"
              aria-label="Display filter"
              placeholder="Filter, such as tcp.analysis.retransmission or ip.addr == 10.0.0.1"
              spellCheck={false}
              value={text}
              aria-invalid={failure !== null}
              onChange={(event) => {
                setText(event.target.value);
                if (event.target.value === "") change({ filter: "" });
              }}
            />
            <button type="submit" className="small-button">
              Filter
            </button>
            <span className="dim" role="status">
              {rows.total !== null && filter !== "" && `${rows.total.toLocaleString("en")} pass`}
            </span>
          </>
        ) : (
          <select aria-label="TCP stream" value={stream?.number ?? 0} onChange={(event) => change({ stream: Number(event.target.value) })}>
            {about.streams.map((one) => (
              <option key={one.number} value={one.number}>
                {`${one.number}: ${one.ends[0].address}:${one.ends[0].port} to ${one.ends[1].address}:${one.ends[1].port}, ${one.packets.toLocaleString("en")} packets`}
              </option>
            ))}
          </select>
        )}
      </form>
      {failure !== null && (
        <p role="alert" className="packets-words">
          {failure}
        </p>
      )}
      {isList && (
        <div className="packets-body">
          <PacketList rows={rows} revision={revision} origin_s={origin_s} chosen={number} goTo={goTo} choose={choose} hover={(row) => hoverPacket(charts, row?.time_s ?? null)} near={near} diagram={view === "diagram"} />
          {number !== null && view === "list" && <PacketDetails capture={capture} number={number} close={() => change({ number: null })} />}
        </div>
      )}
      {view === "sequence" && stream !== null && (
        <SequenceView
          capture={capture}
          stream={stream}
          origin_s={origin_s}
          view={charts}
          choose={(time_s, packet) => {
            showTime(time_s);
            if (packet !== null) showPacket(packet);
          }}
        />
      )}
      {view === "stream" && stream !== null && <StreamView capture={capture} stream={stream} show={showPacket} />}
    </>
  );
}

/** The default stream: the one with the most packets. */
function mostOf({ streams }: PacketCapture): PacketCapture["streams"][number] | null {
  return [...streams].sort((one, other) => other.packets - one.packets)[0] ?? null;
}
