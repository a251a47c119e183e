/** Captures and their decoded packets. */

/** A capture of a session, running or finished. */
export interface LiveCapture {
  number: number;
  interface: string;
  /** In the syntax of pcap-filter(7). */
  filter: string;
  going: boolean;
  bytes: number;
  /** Why it has ended, if the user did not stop it. */
  words: string;
}

/** GET /api/captures?run=PATH: the saved captures of a run. */
export interface KeptCapture {
  /** The probe's name. */
  name: string;
  interface: string;
}

export interface PacketDecoder {
  name: string;
  version: string;
  /** Its limitations. */
  lacks: string;
  /** Why the preferred decoder is not used; empty if it is. */
  why: string;
}

export interface PacketEnd {
  address: string;
  port: number;
}

export interface PacketStream {
  number: number;
  /** The first is the one whose packet came first. */
  ends: [PacketEnd, PacketEnd];
  packets: number;
  /** Of data, each way. */
  bytes: [number, number];
  /** Retransmissions. */
  repeated: number;
}

/**
 * GET /api/packets?CAPTURE, where CAPTURE is `run=PATH&probe=NAME`, or `session=ID&capture=N&start=S`
 * with the time since boot from which time is counted. `version` in further requests means this state
 * of a file that grows.
 */
export interface PacketCapture {
  name: string;
  version: string;
  packets: number;
  /** There are more packets, which were not decoded. */
  is_cut: boolean;
  /** In seconds after the traffic's start, as all times here. */
  first_s: number;
  last_s: number;
  decoder: PacketDecoder;
  streams: PacketStream[];
}

export interface PacketRow {
  number: number;
  time_s: number;
  source: string;
  target: string;
  protocol: string;
  length: number;
  captured: number;
  info: string;
  stream: { kind: "tcp" | "udp"; number: number } | null;
  /** 0 none, 1 and 2 capable, 3 congestion experienced (RFC 3168). */
  ecn: number;
  /** Remarks of the TCP analysis, such as "retransmission". */
  marks: string[];
  tcp?: {
    flags: number;
    /** Relative to the stream's start. */
    seq: number;
    ack: number;
    payload: number;
    window: number;
    window_raw: number;
    source_port: number;
    target_port: number;
    sack: [number, number][];
    ack_rtt_s: number | null;
    in_flight: number | null;
  };
}

/** GET /api/packet-rows?CAPTURE&filter=F&from=N&count=N */
export interface PacketPage {
  /** How many packets match. */
  total: number;
  start: number;
  rows: PacketRow[];
}

/** GET /api/packet-stream?CAPTURE&stream=N: the data of a TCP stream, in order. */
export interface FollowedPiece {
  /** The packet; 0 where the stream ends with a gap. */
  number: number;
  /** Which end sent it. */
  from: number;
  length: number;
  captured?: number;
  text: string;
  /** There is more of the stream, which is not shown. */
  more: boolean;
}

/** GET /api/packet-sequence?CAPTURE&stream=N&reverse=true: a stream's time-sequence graph, as tcptrace draws it. */
export interface TimeSequence {
  stream: number;
  reverse: boolean;
  ends: [PacketEnd, PacketEnd];
  /** Only every n-th segment is included. */
  thinned: number;
  sent: { number: number[]; time_s: number[]; seq: number[]; end: number[]; repeated: number[]; late: number[]; marked: number[] };
  acked: { number: number[]; time_s: number[]; ack: number[]; window: number[] };
  /** When, and from where to where. */
  sack: [number, number, number][];
}
