/** One tab for each open document. */

import type { KeyboardEvent } from "react";
import { closeTab } from "../files/actions";
import { isUnsaved, useDocuments } from "../documents/store";

export function Tabs() {
  const { documents, currentId, select, openNew } = useDocuments();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = documents.findIndex((one) => one.id === currentId);
    const next = documents[(at + step + documents.length) % documents.length];
    if (step !== 0 && next !== undefined) {
      event.preventDefault();
      select(next.id);
      event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
    }
    if (event.key === "Delete" && currentId !== null) closeTab(currentId);
  };
  return (
    <div className="tabs">
      {/* Not role="tablist": each tab has its own close button. */}
      <div role="group" aria-label="Open networks" className="tab-list" onKeyDown={onKeyDown}>
        {documents.map((one) => {
          const unsaved = isUnsaved(one);
          return (
            <div key={one.id} className={one.id === currentId ? "tab tab-current" : "tab"}>
              <button
                type="button"
                data-tab={one.id}
                aria-current={one.id === currentId}
                tabIndex={one.id === currentId ? 0 : -1}
                title={`${one.path ?? (one.lab === null ? "not saved yet" : `lab ${one.lab}`)}${unsaved ? ", has unsaved changes" : ""}`}
                onClick={() => select(one.id)}
                onAuxClick={(event) => event.button === 1 && closeTab(one.id)}
              >
                <span className="tab-name">{one.name}</span>
                {unsaved && (
                  <span className="tab-unsaved" aria-label="unsaved">
                    ●
                  </span>
                )}
              </button>
              <button type="button" className="tab-close" tabIndex={-1} aria-label={`Close ${one.name}`} onClick={() => closeTab(one.id)}>
                ✕
              </button>
            </div>
          );
        })}
      </div>
      <button type="button" className="bar-button" aria-label="New network" title="New network" onClick={() => void openNew()}>
        +
      </button>
    </div>
  );
}
