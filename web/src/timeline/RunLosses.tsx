/** The losses of a saved run on its timeline: spans in a lane, and a list in a dialog. */

import { useEffect, useState } from "react";

import { getJson } from "../api/client";
import type { RunLoss } from "../api/types";
import { Dialog } from "../app/Dialog";
import { LossTable } from "../runs/LossTable";

/** The spans of the most packets; more would not be distinguishable. */
const MAX_SPANS = 40;
/** The shortest span, in percent of the timeline. */
const MIN_WIDTH = 0.4;

/** The losses of a run of the workspace; none while they are read, and of a run that did not count them. */
export function useRunLosses(path: string | null): RunLoss[] {
  const [losses, setLosses] = useState<RunLoss[]>([]);
  useEffect(() => {
    setLosses([]);
    if (path === null) return undefined;
    let current = true;
    getJson<RunLoss[]>(`/api/losses?run=${encodeURIComponent(path)}`).then(
      (list) => current && setLosses(list),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [path]);
  return losses;
}

/** A lane with the time of each loss; a click opens the list. */
export function LossLane({ losses, end_s, open }: { losses: readonly RunLoss[]; end_s: number; open: () => void }) {
  if (losses.length === 0 || end_s === 0) return null;
  return (
    <div className="timeline-losses" aria-hidden="true" onClick={open}>
      {losses.slice(0, MAX_SPANS).map(({ packets, place, cause, first_s, last_s }, index) => {
        const left = Math.min(100 - MIN_WIDTH, (first_s / end_s) * 100);
        const width = Math.max(MIN_WIDTH, Math.min(100, (last_s / end_s) * 100) - left);
        return <span key={index} style={{ left: `${left}%`, width: `${width}%` }} title={`${packets.toLocaleString("en")} lost at ${place}: ${cause}`} />;
      })}
    </div>
  );
}

interface LossDialogProps {
  losses: readonly RunLoss[];
  path: string;
  show: (at_s: number) => void;
  close: () => void;
}

export function LossDialog({ losses, path, show, close }: LossDialogProps) {
  return (
    <Dialog title="Where packets were lost" wide close={close}>
      <LossTable losses={losses} path={path} show={show} />
    </Dialog>
  );
}
