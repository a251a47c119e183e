/** A terminal's context menu. */

import { useEffect, useLayoutEffect, useRef, useState } from "react";

import type { LiveTerminal } from "./terminal";

interface TerminalMenuProps {
  /** Position on the page, in pixels; near an edge it is shifted to fit. */
  at: { x: number; y: number };
  terminal: LiveTerminal;
  onClose: () => void;
}

export function TerminalMenu({ at, terminal, onClose }: TerminalMenuProps) {
  const menu = useRef<HTMLDivElement>(null);

  const [place, setPlace] = useState(at);

  useLayoutEffect(() => {
    const box = menu.current?.getBoundingClientRect();
    if (box === undefined) return;
    const x = Math.max(0, Math.min(at.x, window.innerWidth - box.width - 4));
    const y = Math.max(0, Math.min(at.y, window.innerHeight - box.height - 4));
    setPlace({ x, y });
  }, [at]);

  useEffect(() => {
    menu.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && menu.current?.contains(event.target) !== true) onClose();
    };
    window.addEventListener("pointerdown", outside);
    return () => window.removeEventListener("pointerdown", outside);
  }, [onClose]);

  const items = [
    { label: "Copy", keys: "Ctrl+Shift+C", off: !terminal.screen.hasSelection(), act: () => terminal.copy() },
    { label: "Paste", keys: "Ctrl+Shift+V", off: false, act: () => terminal.paste() },
    { label: "Select all", keys: "", off: false, act: () => terminal.screen.selectAll() },
    { label: "Clear", keys: "", off: false, act: () => terminal.screen.clear() },
  ];

  const move = (by: number) => {
    const buttons = [...(menu.current?.querySelectorAll<HTMLElement>("button:not(:disabled)") ?? [])];
    const place = buttons.indexOf(window.document.activeElement as HTMLElement);
    buttons[(place + by + buttons.length) % buttons.length]?.focus();
  };

  return (
    <div
      ref={menu}
      className="terminal-menu"
      role="menu"
      style={{ left: place.x, top: place.y }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Escape") onClose();
        if (event.key === "ArrowDown") move(1);
        if (event.key === "ArrowUp") move(-1);
      }}
    >
      {items.map(({ label, keys, off, act }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          disabled={off}
          onClick={() => {
            // A browser may deny access to the clipboard: the keys still work then.
            void Promise.resolve(act()).catch(() => undefined);
            onClose();
            terminal.screen.focus();
          }}
        >
          {label} <span>{keys}</span>
        </button>
      ))}
    </div>
  );
}
