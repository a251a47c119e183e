/** Networks whose tabs were closed: they can be reopened, with their undo history. */

import type { Draft } from "../api/types";
import { Dialog } from "../app/Dialog";
import { reopen, useDrafts } from "../documents/drafts";
import { useDocuments } from "../documents/store";

export function ClosedDialog({ close }: { close: () => void }) {
  const closed = useDrafts((state) => state.closed);
  const choose = async (draft: Draft) => {
    close();
    await reopen(draft);
    useDocuments.getState().select(draft.id);
  };
  return (
    <Dialog title="Closed networks" close={close} wide>
      {closed.length === 0 && <p className="dim">No network was closed recently.</p>}
      <ul className="file-list" aria-label="Closed networks">
        {closed.map((draft) => (
          <li key={draft.id}>
            <button type="button" onClick={() => void choose(draft)}>
              <span className="file-path">{draft.path ?? draft.name}</span>
              <span className="dim">{draft.text === draft.saved ? "saved" : "unsaved"}</span>
              <span className="dim">{new Date((draft.closed_s ?? 0) * 1000).toLocaleDateString()}</span>
            </button>
          </li>
        ))}
      </ul>
      <p className="dim">The last 30 are kept, with their undo history.</p>
    </Dialog>
  );
}
