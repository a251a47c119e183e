/** Saving under a name: checked before anything is written. */

import { useEffect, useState } from "react";
import { getJson } from "../api/client";
import type { FileEntry } from "../api/types";
import { Dialog } from "../app/Dialog";
import type { StudyDocument } from "../documents/model";
import { saveTo } from "./actions";
import { nameProblem } from "./names";

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
