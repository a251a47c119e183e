/**
 * The timeline below the network: any moment of a recording can be shown, played and
 * jumped to, during the session or afterwards.
 */

import { useEffect, useMemo, useState } from "react";

import { chartViewOf } from "../charts/view";
import type { Recording } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { shownOf, useSession } from "../live/store";
import { isGoingOn, latestOf, type SessionView } from "../live/view";
import { MomentCard } from "./MomentCard";
import { endOf, momentsOf, type Moment } from "./moments";
import { PlayBar } from "./PlayBar";
import { showMoment, useMoment } from "./player";
import { LossDialog, LossLane, useRunLosses } from "./RunLosses";

const EVERY_MS = 250;
const NAMES = { bar: "Timeline", slider: "Displayed time", moment: "Time", mark: "mark" };

export function Timeline({ document }: { document: StudyDocument }) {
  const view = useSession(shownOf(document));
  const recording = latestOf(view);
  if (view === undefined || recording === null || (recording.number === 0 && recording.series.length === 0)) return null;
  const close = () => useDocuments.getState().showRun(document.id, null);
  return <Line key={`${view.id} ${recording.number}`} session={view} recording={recording} close={view.run === null ? null : close} />;
}

interface LineProps {
  session: SessionView;
  recording: Recording;
  /** Closes the run; null if it belongs to the session. */
  close: (() => void) | null;
}

function Line({ session, recording, close }: LineProps) {
  const view = chartViewOf(session.seriesStore);
  const at = useMoment(session.seriesStore);
  const { end_s, moments } = useWhole(recording, session);
  // Of runs side by side on one timeline, the lane is of none.
  const path = session.run !== null && session.recordings.length === 1 ? session.run : null;
  const losses = useRunLosses(path);
  const [listed, setListed] = useState(false);
  const going = isGoingOn(recording) && session.link === "open";

  // Another run starts at its own end.
  useEffect(() => () => showMoment(view, null), [view]);

  return (
    <PlayBar
      names={NAMES}
      at={at}
      end_s={end_s}
      start_s={recording.start_s}
      moments={moments}
      show={(at_s) => showMoment(view, at_s)}
      going={going}
      lane={<LossLane losses={losses} end_s={end_s} open={() => setListed(true)} />}
      more={(go) => (
        <>
          {losses.length > 0 && (
            <button type="button" title="Where packets were lost, and why" onClick={() => setListed(true)}>
              Losses
            </button>
          )}
          <button type="button" className="timeline-now" disabled={at === null} title={going ? "Follow the recording" : "Show the end"} onClick={() => go(null)}>
            {going ? "Now" : "End"}
          </button>
          {close !== null && (
            <button type="button" aria-label="Close this run" title={`${session.run ?? ""}: close it; it stays in Runs`} onClick={close}>
              ✕
            </button>
          )}
        </>
      )}
    >
      <MomentCard sessionId={session.id} place="line" />
      {listed && path !== null && (
        <LossDialog
          losses={losses}
          path={path}
          show={(at_s) => {
            showMoment(view, Math.min(end_s, at_s));
            setListed(false);
          }}
          close={() => setListed(false)}
        />
      )}
    </PlayBar>
  );
}

/** The end and the marks, updated a few times a second while the recording grows. */
function useWhole(recording: Recording, { seriesStore }: SessionView): { end_s: number; moments: Moment[] } {
  const [revision, setRevision] = useState(seriesStore.revision);
  useEffect(() => {
    const timer = setInterval(() => setRevision(seriesStore.revision), EVERY_MS);
    return () => clearInterval(timer);
  }, [seriesStore]);
  return useMemo(() => {
    void revision;
    return { end_s: endOf(recording, seriesStore), moments: momentsOf(recording, seriesStore) };
  }, [recording, seriesStore, revision]);
}
