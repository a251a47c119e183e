/** Opening a file of the workspace, or one of the user's disk. */

import { useEffect, useMemo, useRef, useState } from "react";
import { getJson, errorMessage } from "../api/client";
import type { FileEntry } from "../api/types";
import { Dialog } from "../app/Dialog";
import { confirmDelete, openFile, openFromDisk } from "./actions";

const KINDS: Record<FileEntry["kind"], string> = { study: "Study", miniedit: "MiniEdit", mininet: "Mininet" };

export function OpenDialog({ close }: { close: () => void }) {
  const [files, setFiles] = useState<FileEntry[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [filter, setFilter] = useState("");
  const chooser = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);

  useEffect(() => {
    getJson<FileEntry[]>("/api/files").then(setFiles, (error: unknown) => setProblem(errorMessage(error)));
  }, []);

  const shown = useMemo(() => {
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    return (files ?? []).filter((file) => words.every((word) => file.path.toLowerCase().includes(word)));
  }, [files, filter]);

  const choose = ({ path }: FileEntry) => {
    close();
    void openFile(path);
  };

  return (
    <Dialog title="Open" close={close} wide>
      <div className="dialog-row">
        <input
          type="search"
          aria-label="Filter files"
          placeholder="Filter by name"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          onKeyDown={(event) => {
            const [first] = shown;
            if (event.key === "Enter" && first !== undefined) choose(first);
            if (event.key === "ArrowDown") {
              event.preventDefault();
              list.current?.querySelector("button")?.focus();
            }
          }}
        />
        <button type="button" onClick={() => chooser.current?.click()}>
          From this computer…
        </button>
        <input
          ref={chooser}
          type="file"
          hidden
          multiple
          accept=".yaml,.yml,.mn,.py,.pkt"
          onChange={(event) => {
            const chosen = [...(event.target.files ?? [])];
            close();
            void openFromDisk(chosen);
          }}
        />
      </div>
      {problem !== null && <p className="field-problem">{problem}</p>}
      {files === null && problem === null && <p className="dim">Looking…</p>}
      {files !== null && shown.length === 0 && (
        <p className="dim">{files.length === 0 ? "There are no studies, .mn files or Mininet scripts in the workspace yet." : "No file name matches."}</p>
      )}
      <ul className="file-list" ref={list} aria-label="Files of the workspace">
        {shown.map((file) => (
          <li key={file.path}>
            <button type="button" onClick={() => choose(file)} onKeyDown={walk}>
              <span className="file-path">{file.path}</span>
              <span className="dim">{KINDS[file.kind]}</span>
              <span className="dim">{new Date(file.modified_s * 1000).toLocaleDateString()}</span>
            </button>
            <button type="button" className="small-button" aria-label={`Delete ${file.path}`} onClick={() => confirmDelete(file.path)}>
              Delete
            </button>
          </li>
        ))}
      </ul>
      <p className="dim">A file can also be dropped onto the page.</p>
    </Dialog>
  );
}

function walk(event: React.KeyboardEvent<HTMLButtonElement>): void {
  const item = event.currentTarget.parentElement;
  const next = event.key === "ArrowDown" ? item?.nextElementSibling : event.key === "ArrowUp" ? item?.previousElementSibling : null;
  if (next === null || next === undefined) return;
  event.preventDefault();
  next.querySelector("button")?.focus();
}
