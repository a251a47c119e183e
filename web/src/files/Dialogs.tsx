/** The dialog that is open, if any. */

import { Dialog } from "../app/Dialog";
import { KeysDialog } from "../app/KeysDialog";
import { useDocuments } from "../documents/store";
import { ClosedDialog } from "./ClosedDialog";
import { useDialogs } from "./dialogs";
import { ImportReportDialog } from "./ImportReportDialog";
import { OpenDialog } from "./OpenDialog";
import { SaveAsDialog } from "./SaveAsDialog";
import { TemplateDialog } from "./TemplateDialog";

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
