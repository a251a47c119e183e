/** Banners below the clock bar: why no network runs, or why it has to be restarted. */

import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { Dialog } from "../app/Dialog";
import { ENDED_HERE, restartAndRun, restartSession, useLaunch } from "./launch";
import { useLive } from "./store";
import type { SessionView } from "./view";

interface ClockBannersProps {
  document: StudyDocument;
  view: SessionView | undefined;
}

export function ClockBanners({ document, view }: ClockBannersProps) {
  const failure = useLaunch((state) => state.failures[document.id]);
  const starting = useLaunch((state) => state.starting[document.id] ?? false);
  const wait = useLaunch((state) => state.waits[document.id]);
  return (
    <div aria-live="polite">
      {wait !== undefined && <p className="banner">{wait}</p>}
      {failure !== undefined && (
        <p className="banner banner-bad">
          <span>
            <strong>The network did not start.</strong> {failure.problem?.line ? `Line ${failure.problem.line}: ` : ""}
            {failure.words}
          </span>
          <button type="button" onClick={() => useLaunch.getState().setFailure(document.id, null)}>
            Dismiss
          </button>
        </p>
      )}
      {view?.link === "lost" && (
        <p className="banner banner-warn">
          The connection to the server is lost; reconnecting. If the server still runs, so does the session.
        </p>
      )}
      {view?.link === "ended" && (
        <p className={view.ended === ENDED_HERE ? "banner" : "banner banner-bad"}>
          <span>
            <strong>The session has ended.</strong> {view.ended === ENDED_HERE ? "" : view.ended} {keptText(view)}
          </span>
          <span className="banner-buttons">
            <button type="button" disabled={starting} onClick={() => void restartSession(document.id)}>
              Start a new one
            </button>
            <button
              type="button"
              onClick={() => {
                useLive.getState().disconnect(view.id);
                useDocuments.getState().setSession(document.id, null);
              }}
            >
              Dismiss
            </button>
          </span>
        </p>
      )}
      {view !== undefined && view.restart !== null && <RestartDialog documentId={document.id} view={view} reasons={view.restart} />}
      {view !== undefined && view.link !== "ended" && view.stale.length > 0 && (
        <p className="banner banner-warn">
          <span>
            The drawing has changes that a running network cannot apply: {view.stale.join("; ")}.
          </span>
          <button type="button" disabled={starting} onClick={() => void restartSession(document.id)}>
            Restart the network
          </button>
        </p>
      )}
    </div>
  );
}

/** What is left of an ended session: only runs that the server reported as saved are in Runs. */
export function keptText({ recordings }: Pick<SessionView, "recordings">): string {
  const runs = recordings.filter(({ number }) => number > 0);
  const saved = runs.filter(({ kept }) => kept !== null).length;
  const lost = runs.length - saved;
  if (runs.length === 0) return "The drawing is unchanged.";
  const parts = ["The drawing is unchanged"];
  if (saved > 0) parts.push(saved === 1 ? "1 run is in Runs" : `${saved} runs are in Runs`);
  if (lost > 0) parts.push(`${lost === 1 ? "1 run was" : `${lost} runs were`} not saved`);
  return `${parts.join("; ")}. The charts remain below.`;
}

/** Shown if Run was pressed and the running network differs from the drawn one. */
function RestartDialog({ documentId, view, reasons }: { documentId: string; view: SessionView; reasons: string[] }) {
  const answered = () => useLive.getState().change(view.id, (each) => ({ ...each, restart: null }));
  return (
    <Dialog title="Restart the network and run?" close={answered}>
      <p>
        The running network cannot apply the changes of the drawing: {reasons.join("; ")}. A restart ends its terminals; its runs
        are kept in Runs.
      </p>
      <div className="dialog-buttons">
        <button
          type="button"
          className="main"
          onClick={() => {
            answered();
            void restartAndRun(documentId, view.runs ?? { lines: [] });
          }}
        >
          Restart and run
        </button>
        <button type="button" onClick={answered}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
