/**
 * Decoder of the binary messages of series: a header in JSON, then the numbers.
 *
 * `api/types/session.ts` documents the layout. The numbers are not copied; they are views
 * into the message, which is little-endian as all machines with browsers are.
 */

import type { SeriesHeader } from "../api/types";

export interface SeriesPart {
  key: string;
  /** Seconds since the recording's start. */
  times: Float64Array;
  values: Float64Array;
}

export interface SeriesMessage {
  recording: number;
  whole: boolean;
  parts: SeriesPart[];
}

/**
 * Decodes a message.
 *
 * @throws Error if it is malformed: shorter than its header says, or not JSON.
 */
export function decodeSeries(message: ArrayBuffer): SeriesMessage {
  if (message.byteLength < 4) throw new Error("a series message is shorter than its length field");
  const length = new DataView(message).getUint32(0, true);
  if (4 + length > message.byteLength) throw new Error("a series message ends within its header");
  const header = readHeader(new TextDecoder().decode(new Uint8Array(message, 4, length)));
  let at = Math.ceil((4 + length) / 8) * 8;
  const parts: SeriesPart[] = [];
  for (const { key, count } of header.entries) {
    if (at + 16 * count > message.byteLength) {
      throw new Error(`a series message ends within the ${count} samples of ${key}`);
    }
    const times = new Float64Array(message, at, count);
    const values = new Float64Array(message, at + 8 * count, count);
    parts.push({ key, times, values });
    at += 16 * count;
  }
  return { recording: header.recording, whole: header.whole, parts };
}

function readHeader(text: string): SeriesHeader {
  const header = JSON.parse(text) as Partial<SeriesHeader> | null;
  if (typeof header?.recording !== "number" || !Array.isArray(header.entries)) {
    throw new Error("a series message has no recording or no entries in its header");
  }
  for (const entry of header.entries) {
    if (typeof entry.key !== "string" || !Number.isInteger(entry.count) || entry.count < 0) {
      throw new Error("an entry of a series message has no key or no count");
    }
  }
  return { recording: header.recording, whole: header.whole === true, entries: header.entries };
}
