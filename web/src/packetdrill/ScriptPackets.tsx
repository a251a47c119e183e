/** The packets of a script's run, decoded: times are seconds since its start. */

import { useEffect, useMemo, useState } from "react";

import { errorMessage } from "../api/client";
import { address, PacketRows } from "../packets/capture";
import { PacketDetails } from "../packets/PacketDetails";
import { PacketList } from "../packets/PacketList";
import "../packets/packets.css";

export function ScriptPackets({ number }: { number: string }) {
  const capture = `script=${encodeURIComponent(number)}`;
  const [diagram, setDiagram] = useState(false);
  const [revision, setRevision] = useState(0);
  const [failure, setFailure] = useState<string | null>(null);
  const [chosen, setChosen] = useState<number | null>(null);
  const rows = useMemo(() => new PacketRows(capture, "", () => setRevision((one) => one + 1), (error) => setFailure(errorMessage(error))), [capture]);
  useEffect(() => {
    setChosen(null);
    setFailure(null);
  }, [capture]);
  return (
    <section className="script-packets packets" aria-label="Packets of the run">
      <div className="tool-row">
        <div role="group" aria-label="View" className="packets-views">
          <button type="button" className="small-button" aria-pressed={!diagram} onClick={() => setDiagram(false)}>
            List
          </button>
          <button type="button" className="small-button" aria-pressed={diagram} onClick={() => setDiagram(true)}>
            Between hosts
          </button>
        </div>
        <span className="dim">{rows.total === null ? "" : `${rows.total} packets`}</span>
        <span className="grow" />
        <a className="small-button" href={address("/api/packets.pcapng", capture)} download="packets.pcapng">
          Save as pcapng
        </a>
      </div>
      {failure !== null && (
        <p role="alert" className="packets-words">
          {failure}
        </p>
      )}
      <div className="packets-body">
        <PacketList rows={rows} revision={revision} origin_s={0} chosen={chosen} goTo={null} choose={(row) => setChosen(row.number)} hover={() => undefined} near={null} diagram={diagram} />
        {chosen !== null && !diagram && <PacketDetails capture={capture} number={chosen} close={() => setChosen(null)} />}
      </div>
    </section>
  );
}
