/** The dialog that is open, if any. */

import { useEffect, useState } from "react";
import { getJson } from "../api/client";
import type { Draft, FileEntry, ImportReport } from "../api/types";
import { Dialog } from "../app/Dialog";
import { KeysDialog } from "../app/KeysDialog";
import { reopen, useDrafts } from "../documents/drafts";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { OpenDialog } from "./OpenDialog";
import { TemplateDialog } from "./TemplateDialog";
import { saveTo } from "./actions";
import { useDialogs } from "./dialogs";

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

export function ImportReportDialog({ report, close }: { report: ImportReport; close: () => void }) {
  const { source, at_s, messages } = report;
  return (
    <Dialog title="Import report" close={close} wide>
      <p>
        {source} was imported on {new Date(at_s * 1000).toLocaleString()}. Differences from the original:
      </p>
      <ol className="import-report" aria-label="Messages">
        {messages.map((message, index) => (
          <li key={index}>{message}</li>
        ))}
      </ol>
      <div className="dialog-buttons">
        <button type="button" className="main" onClick={close}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Why a study cannot be saved there; null if it can. */
export function nameProblem(path: string): string | null {
  const trimmed = path.trim();
  if (trimmed === "") return "Enter a name, such as my-network.yaml.";
  if (trimmed.startsWith("/") || /^[A-Za-z]:/.test(trimmed)) return "The name is relative to the workspace: it cannot begin with a slash.";
  if (trimmed.split("/").some((part) => part === ".." || part === "." || part === "")) return "The file must be in the workspace: no '..', and no empty part.";
  if (!/\.(ya?ml|mn|py)$/.test(trimmed)) return "The name has to end in .yaml (a study), .mn (MiniEdit) or .py (Mininet).";
  if (/[\\:*?"<>|]/.test(trimmed)) return 'A name cannot contain any of \\ : * ? " < > |';
  return null;
}

interface SaveAsProps {
  document: StudyDocument;
  then?: () => void;
  close: () => void;
}

export function SaveAsDialog({ document, then, close }: SaveAsProps) {
  const [path, setPath] = useState(document.path ?? `${document.name}.yaml`);
  const [files, setFiles] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    // Without the list, the server still does not overwrite a file without confirmation.
    getJson<FileEntry[]>("/api/files").then((all) => setFiles(new Set(all.map((file) => file.path))), () => undefined);
  }, []);
  const problem = nameProblem(path);
  const exists = files.has(path.trim()) && path.trim() !== document.path;
  return (
    <Dialog title="Save as" close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (problem !== null) return;
          close();
          void saveTo(document.id, path.trim(), { force: exists, ...(then === undefined ? {} : { then }) });
        }}
      >
        <div className="field field-wide">
          <label htmlFor="save-path">File in the workspace</label>
          <input
            id="save-path"
            type="text"
            value={path}
            spellCheck={false}
            aria-invalid={problem !== null}
            aria-describedby="save-words"
            onFocus={(event) => event.target.setSelectionRange(0, event.target.value.lastIndexOf("."))}
            onChange={(event) => setPath(event.target.value)}
          />
          <p id="save-words" className={problem !== null ? "field-problem" : "field-hint"} aria-live="polite">
            {problem ?? (exists ? "A file with this name exists and will be overwritten." : "Ends in .yaml (a study), .mn (MiniEdit) or .py (Mininet).")}
          </p>
        </div>
        <div className="dialog-buttons">
          <button type="submit" className="main" disabled={problem !== null}>
            {exists ? "Overwrite" : "Save"}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function Dialogs() {
  const { dialog, close } = useDialogs();
  const documents = useDocuments((state) => state.documents);
  switch (dialog?.kind) {
    case "open":
      return <OpenDialog close={close} />;
    case "template":
      return <TemplateDialog close={close} />;
    case "keys":
      return <KeysDialog close={close} />;
    case "closed":
      return <ClosedDialog close={close} />;
    case "import-report": {
      const imported = documents.find((one) => one.id === dialog.documentId)?.imported ?? null;
      return imported === null ? null : <ImportReportDialog report={imported} close={close} />;
    }
    case "save-as": {
      const document = documents.find((one) => one.id === dialog.documentId);
      if (document === undefined) return null;
      return <SaveAsDialog document={document} close={close} {...(dialog.then === undefined ? {} : { then: dialog.then })} />;
    }
    case "confirm":
      return (
        <Dialog title={dialog.title} close={close}>
          <p>{dialog.text}</p>
          <div className="dialog-buttons">
            {dialog.choices.map((choice) => (
              <button
                key={choice.label}
                type="button"
                className={choice.main ? "main" : ""}
                onClick={() => {
                  close();
                  choice.act();
                }}
              >
                {choice.label}
              </button>
            ))}
          </div>
        </Dialog>
      );
    case undefined:
      return null;
  }
}
