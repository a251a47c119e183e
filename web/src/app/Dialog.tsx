/** A modal dialog: the browser's own, which traps the focus and closes by Escape. */

import type { ReactNode } from "react";
import { useEffect, useId, useRef } from "react";

interface DialogProps {
  title: string;
  close: () => void;
  children: ReactNode;
  wide?: boolean;
}

export function Dialog({ title, close, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open) return;
    element.showModal();
    // Focus the first input or button, not the close button.
    element.querySelector<HTMLElement>("input:not([hidden]), .main")?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <div className="dialog-inside">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="icon-button" aria-label="Close" onClick={close}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
