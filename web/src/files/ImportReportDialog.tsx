/** The messages of the import of a file of another format, or of a run. */

import type { ImportReport } from "../api/types";
import { Dialog } from "../app/Dialog";

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
