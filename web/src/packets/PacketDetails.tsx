/** The decoded details of one packet, in foldable layers. */

import { useEffect, useState } from "react";

import { getJson, errorMessage } from "../api/client";
import { address } from "./capture";

/** A packet that is selected for less than this is not decoded. */
const PASSING_MS = 30;

interface Layer {
  title: string;
  lines: string[];
}

/** The layers of a text that is indented by four blanks a level, and the bytes after them. */
export function layersOf(text: string): { layers: Layer[]; bytes: string } {
  const layers: Layer[] = [];
  const bytes: string[] = [];
  for (const line of text.split("\n")) {
    if (/^[0-9a-f]{4} {2}/.test(line)) bytes.push(line);
    else if (line.trim() === "") continue;
    else if (!line.startsWith(" ")) layers.push({ title: line, lines: [] });
    else layers.at(-1)?.lines.push(line.slice(4));
  }
  return { layers, bytes: bytes.join("\n") };
}

export function PacketDetails({ capture, number, close }: { capture: string; number: number; close: () => void }) {
  const [found, setFound] = useState<{ number: number; text: string | null; failure: string | null } | null>(null);
  useEffect(() => {
    if (found?.number === number && found.text !== null) return undefined;
    let current = true;
    // Packets that are only passed with the arrow keys are not decoded.
    const timer = setTimeout(() => {
      getJson<{ text: string }>(address("/api/packet", capture, { number })).then(
        ({ text }) => current && setFound({ number, text, failure: null }),
        (error: unknown) => current && setFound({ number, text: null, failure: errorMessage(error) }),
      );
    }, PASSING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [capture, number, found]);
  // A packet has the same number and layers in each later state of a capture, and no other packet has.
  const { text, failure } = found?.number === number ? found : { text: null, failure: null };
  const { layers, bytes } = layersOf(text ?? "");
  return (
    <aside className="packet-details" aria-label={`Packet ${number}`} tabIndex={0}>
      <header>
        <h2>Packet {number}</h2>
        <button type="button" className="icon-button" aria-label="Close the details" onClick={close}>
          ✕
        </button>
      </header>
      {failure !== null && <p role="alert">{failure}</p>}
      {text === null && failure === null && <p role="status">Decoding…</p>}
      {layers.map(({ title, lines }, index) => (
        <details key={index} open={index >= layers.length - 2}>
          <summary>{title}</summary>
          <pre>{lines.join("\n")}</pre>
        </details>
      ))}
      {bytes !== "" && (
        <pre className="packet-bytes" tabIndex={0} role="region" aria-label={`Bytes of packet ${number}`}>
          {bytes}
        </pre>
      )}
    </aside>
  );
}
