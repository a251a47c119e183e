/** Files that programs wrote in the machine: listed when the menu is opened, to be downloaded. */

import { useState } from "react";

import { errorMessage, getJson } from "../api/client";
import type { SessionFile } from "../api/types";
import { formatQuantity } from "../live/quantities";

export function FilesMenu({ sessionId }: { sessionId: string }) {
  const [files, setFiles] = useState<SessionFile[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const url = `/api/sessions/${encodeURIComponent(sessionId)}`;
  const load = () => {
    setFiles(null);
    setFailure(null);
    getJson<SessionFile[]>(`${url}/files`).then(setFiles, (error: unknown) => setFailure(errorMessage(error)));
  };
  return (
    <details className="chart-menu" onToggle={(event) => event.currentTarget.open && load()}>
      <summary className="small-button" title="Files that programs wrote in this session's machine: they are lost when it ends">
        Files
      </summary>
      <div className="chart-menu-body">
        {failure !== null && <p role="alert">{failure}</p>}
        {failure === null && files === null && <p role="status">Listing…</p>}
        {files?.length === 0 && <p>No files yet. What programs write to /root, /tmp, /home or /srv is listed here.</p>}
        {files !== null && files.length > 0 && (
          <ul className="terminal-files" aria-label="Files of the session">
            {files.map(({ path, bytes }) => (
              <li key={path}>
                <a href={`${url}/file?path=${encodeURIComponent(path)}`} download={path.split("/").at(-1)}>
                  {path}
                </a>{" "}
                <span>{formatQuantity(bytes, "bytes")}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}
