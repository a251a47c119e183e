/**
 * The packets of a capture, as a list or as a diagram between hosts: only the visible rows
 * are in the DOM, so that a hundred thousand scroll as smoothly as ten.
 */

import type { KeyboardEvent } from "react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import type { PacketRow } from "../api/types";
import { segmentWords, toneOf, type PacketRows } from "./capture";

const ROW = 20;
const LADDER_ROW = 26;
/** Height of the header row. */
const HEAD = ROW + 4;
/** Rows rendered above and below the visible ones. */
const SPARE = 12;

interface PacketListProps {
  rows: PacketRows;
  /** Grows when rows have arrived. */
  revision: number;
  origin_s: number;
  chosen: number | null;
  goTo: ScrollTarget | null;
  choose: (row: PacketRow) => void;
  /** The packet that the pointer is over; null if it is over none. */
  hover: (row: PacketRow | null) => void;
  /** The row that is nearest to what is hovered in the charts. */
  near: number | null;
  diagram: boolean;
}

/** A row to scroll to. */
export interface ScrollTarget {
  row: number;
  /** Differs for each request. */
  number: number;
  /** Only scroll if it is not visible: the row is not selected. */
  isPointed?: boolean;
}

export function PacketList({ rows, revision, origin_s, chosen, goTo, choose, hover, near, diagram }: PacketListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(300);
  const [active, setActive] = useState(0);
  const awaited = useRef<number | null>(null);
  const size = diagram ? LADDER_ROW : ROW;
  const total = rows.total ?? 0;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const resizes = new ResizeObserver(() => setHeight(element.clientHeight));
    resizes.observe(element);
    return () => resizes.disconnect();
  }, []);

  const show = (row: number) => {
    const element = scroller.current;
    if (element === null) return;
    if (row * size < element.scrollTop) element.scrollTop = row * size;
    else if ((row + 1) * size > element.scrollTop + element.clientHeight - HEAD) element.scrollTop = (row + 1) * size - element.clientHeight + HEAD;
  };
  useEffect(() => {
    const element = scroller.current;
    if (goTo === null || element === null) return;
    const top = goTo.row * size;
    const isSeen = top >= element.scrollTop && top + size <= element.scrollTop + element.clientHeight - HEAD;
    if (goTo.isPointed !== true) setActive(goTo.row);
    else if (isSeen) return;
    element.scrollTop = Math.max(0, top - element.clientHeight / 2);
  }, [goTo, size]);

  const go = (row: number) => {
    const next = Math.min(total - 1, Math.max(0, row));
    setActive(next);
    show(next);
    const found = rows.get(next);
    awaited.current = found === undefined ? next : null;
    if (found !== undefined) choose(found);
  };
  // A row that was requested before it was loaded is selected once it is.
  useEffect(() => {
    const found = awaited.current === null ? undefined : rows.get(awaited.current);
    if (found === undefined) return;
    awaited.current = null;
    choose(found);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- when rows have arrived, and then once
  }, [revision]);
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(height / size) - 2);
    const places: Record<string, number> = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: total - 1 };
    const place = places[event.key];
    if (place === undefined) return;
    event.preventDefault();
    go(place);
  };

  const first = Math.max(0, Math.floor(top / size) - SPARE);
  const last = Math.min(total, Math.ceil((top + height) / size) + SPARE);
  const seen = Array.from({ length: Math.max(0, last - first) }, (_, index) => ({ index: first + index, row: rows.get(first + index) }));
  const hosts = diagram ? hostsOf(seen.flatMap(({ row }) => row ?? [])) : [];
  void revision;

  return (
    <div
      ref={scroller}
      className={diagram ? "packet-grid packet-diagram" : "packet-grid"}
      role="grid"
      aria-label={diagram ? "Packets between hosts" : "Packets"}
      aria-rowcount={total + 1}
      aria-activedescendant={seen.some(({ index }) => index === active) ? `packet-row-${active}` : undefined}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="packet-head">
        <div role="row" aria-rowindex={1} className="packet-row">
          {diagram ? <LadderHead hosts={hosts} /> : HEADS.map((head) => <span key={head} role="columnheader">{head}</span>)}
        </div>
      </div>
      <div role="rowgroup" className="packet-rows" style={{ height: total * size }} onMouseLeave={() => hover(null)}>
        {seen.map(({ index, row }) => (
          <div
            key={index}
            id={`packet-row-${index}`}
            role="row"
            aria-rowindex={index + 2}
            aria-selected={row !== undefined && row.number === chosen}
            className={`packet-row ${row === undefined ? "" : `packet-${toneOf(row)}`} ${index === near ? "packet-near" : ""}`}
            style={{ top: index * size, height: size }}
            onClick={() => go(index)}
            onMouseEnter={() => hover(row ?? null)}
          >
            {row === undefined ? <span role="gridcell">…</span> : diagram ? <LadderRow row={row} hosts={hosts} origin_s={origin_s} /> : <Cells row={row} origin_s={origin_s} />}
          </div>
        ))}
      </div>
    </div>
  );
}

const HEADS = ["No.", "Time, s", "Source", "Destination", "Protocol", "Bytes", "Info"];

function Cells({ row, origin_s }: { row: PacketRow; origin_s: number }) {
  return (
    <>
      <span role="gridcell">{row.number}</span>
      <span role="gridcell">{(row.time_s + origin_s).toFixed(6)}</span>
      <span role="gridcell">{row.source}</span>
      <span role="gridcell">{row.target}</span>
      <span role="gridcell">{row.protocol}</span>
      <span role="gridcell">{row.length}</span>
      <span role="gridcell" title={row.info}>
        {row.ecn === 3 && <b className="packet-ce">CE </b>}
        {row.info}
      </span>
    </>
  );
}

/** The maximum number of host lines: other hosts share one. */
const MAX_HOSTS = 5;
const OTHERS = "others";

/** The hosts with the most packets among the rows, ordered by address so that they keep their positions. */
export function hostsOf(rows: readonly Pick<PacketRow, "source" | "target">[]): string[] {
  const counts = new Map<string, number>();
  for (const { source, target } of rows) for (const host of [source, target]) counts.set(host, (counts.get(host) ?? 0) + 1);
  const most = [...counts].sort((one, other) => other[1] - one[1]).map(([host]) => host);
  const shown = most.length > MAX_HOSTS ? most.slice(0, MAX_HOSTS - 1) : most;
  shown.sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  return most.length > shown.length ? [...shown, OTHERS] : shown;
}

/** The position of a host's line, as a fraction of the width. */
function placeOf(host: string, hosts: readonly string[]): number {
  const place = hosts.indexOf(host);
  return ((place < 0 ? hosts.length - 1 : place) + 0.5) / Math.max(1, hosts.length);
}

function LadderHead({ hosts }: { hosts: readonly string[] }) {
  return (
    <>
      <span role="columnheader">Time, s</span>
      <span role="columnheader" className="ladder-hosts">
        {hosts.map((host) => (
          <span key={host} title={host} style={{ left: `${placeOf(host, hosts) * 100}%`, maxWidth: `${94 / hosts.length}%` }}>
            {host}
          </span>
        ))}
        {hosts.length === 0 && "Hosts"}
      </span>
    </>
  );
}

function LadderRow({ row, hosts, origin_s }: { row: PacketRow; hosts: readonly string[]; origin_s: number }) {
  const from = placeOf(row.source, hosts) * 100;
  const to = placeOf(row.target, hosts) * 100;
  const left = Math.min(from, to);
  // Two hosts that share a line have no arrow: the text is placed where there is room.
  const words =
    from !== to ? { left: `${left}%`, width: `${Math.max(20, Math.abs(to - from))}%` } : from > 50 ? { right: `${100 - from}%`, width: `${from}%` } : { left: `${from}%`, width: `${100 - from}%` };
  const arrow = from === to ? "ladder-arrow ladder-same" : to < from ? "ladder-arrow ladder-back" : "ladder-arrow";
  const marks = row.info.startsWith("[") ? `${row.info.slice(0, row.info.indexOf("]") + 1)} ` : "";
  return (
    <>
      <span role="gridcell">{(row.time_s + origin_s).toFixed(6)}</span>
      <span role="gridcell" className="ladder">
        {hosts.map((host) => (
          <i key={host} className="ladder-line" style={{ left: `${placeOf(host, hosts) * 100}%` }} />
        ))}
        <i className={arrow} style={{ left: `${left}%`, width: `${Math.abs(to - from)}%` }} />
        <span className={from === to && from > 50 ? "ladder-words ladder-left" : "ladder-words"} style={words} title={row.info}>
          {from === to && `${row.source} to ${row.target}: `}
          {row.ecn === 3 && "CE "}
          {marks}
          {segmentWords(row)}
        </span>
        <span className="unseen">
          {row.source} to {row.target}
        </span>
      </span>
    </>
  );
}
