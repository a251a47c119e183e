/** The data that the two ends of a TCP stream exchanged. */

import { useEffect, useState } from "react";

import { getJson, errorMessage } from "../api/client";
import type { FollowedPiece, PacketStream } from "../api/types";
import { address } from "./capture";

interface StreamViewProps {
  capture: string;
  stream: PacketStream;
  show: (number: number) => void;
}

export function StreamView({ capture, stream, show }: StreamViewProps) {
  const [pieces, setPieces] = useState<FollowedPiece[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const { number, ends } = stream;
  useEffect(() => {
    let current = true;
    setPieces(null);
    setFailure(null);
    getJson<FollowedPiece[]>(address("/api/packet-stream", capture, { stream: number })).then(
      (found) => current && setPieces(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [capture, number]);
  if (failure !== null) return <p role="alert" className="empty">{failure}</p>;
  if (pieces === null) return <p role="status" className="empty">Following stream {number}…</p>;
  const lacking = pieces.reduce((sum, one) => sum + one.length - (one.captured ?? 0), 0);
  return (
    <div className="stream-view" role="region" aria-label={`Stream ${number}`} tabIndex={0}>
      <p className="dim">
        <span className="stream-0">{`${ends[0].address}:${ends[0].port}`}</span>, and <span className="stream-1">{`${ends[1].address}:${ends[1].port}`}</span>.
        {lacking > 0 && ` ${lacking.toLocaleString("en")} bytes were not captured: captures keep the first 128 bytes of each packet.`}
        {pieces.length === 0 && " No data was sent."}
      </p>
      {grouped(pieces).map((group, index) => (
        <button key={index} type="button" className={`stream-piece stream-${group.from}`} title={`Packet ${group.number}`} onClick={() => group.number > 0 && show(group.number)}>
          {group.text}
        </button>
      ))}
    </div>
  );
}

interface Group {
  from: number;
  number: number;
  text: string;
}

/** Joins consecutive pieces of the same end. */
export function grouped(pieces: readonly FollowedPiece[]): Group[] {
  const groups: Group[] = [];
  let lacking = 0;
  const close = () => {
    const last = groups.at(-1);
    if (last !== undefined && lacking > 0) last.text += `⟨${lacking.toLocaleString("en")} bytes not captured⟩`;
    lacking = 0;
  };
  for (const { from, number, length, captured, text, more } of pieces) {
    if (more) {
      close();
      groups.push({ from, number: 0, text: "… the rest is not shown" });
      break;
    }
    if (groups.at(-1)?.from !== from) {
      close();
      groups.push({ from, number, text: "" });
    }
    const group = groups.at(-1);
    if (group === undefined) continue;
    if (text !== "") {
      close();
      group.text += text;
    }
    lacking += length - (captured ?? 0);
  }
  close();
  return groups;
}
