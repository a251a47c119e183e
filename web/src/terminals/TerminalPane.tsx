/** One terminal on the page: hidden or not, it keeps its screen content. */

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { MouseEvent } from "react";
import type { TerminalInfo } from "../api/types";
import { download } from "../charts/export";
import { useThemeVersion } from "../charts/useThemeVersion";
import { useLive } from "../live/store";
import { useTerminals } from "./store";
import { LiveTerminal } from "./terminal";

interface TerminalMenuProps {
  /** Position on the page, in pixels; near an edge it is shifted to fit. */
  at: { x: number; y: number };
  terminal: LiveTerminal;
  node: string;
  onClose: () => void;
}

export function TerminalMenu({ at, terminal, node, onClose }: TerminalMenuProps) {
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
    { label: "Save as text", keys: "", off: false, act: () => download(`${node}.txt`, new Blob([terminal.text()], { type: "text/plain" })) },
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

interface TerminalPaneProps {
  sessionId: string;
  info: TerminalInfo;
  /** Whether it can be seen. */
  shown: boolean;
  active: boolean;
  /** Grows when the active terminal is to get the focus. */
  focus: number;
  onActive: () => void;
}

export function TerminalPane({ sessionId, info, shown, active, focus, onActive }: TerminalPaneProps) {
  const place = useRef<HTMLDivElement>(null);
  const [terminal, setTerminal] = useState<LiveTerminal | null>(null);
  const [menu, setMenu] = useState<{ x: number; y: number } | null>(null);
  const readerMode = useTerminals((state) => state.readerMode);
  const theme = useThemeVersion();
  // A terminal has no size before it is visible, and its content depends on the size.
  const [wasShown, setWasShown] = useState(shown);
  if (shown && !wasShown) setWasShown(true);
  const { id, node, status } = info;

  useEffect(() => {
    const element = place.current;
    if (element === null || !wasShown) return undefined;
    const isAlive = () => {
      const view = useLive.getState().sessions[sessionId];
      const one = view?.terminals.find((each) => each.id === id);
      return view !== undefined && view.link !== "ended" && one?.status === null;
    };
    const made = new LiveTerminal(element, { sessionId, id }, useTerminals.getState().readerMode, isAlive);
    setTerminal(made);
    const resizes = new ResizeObserver(() => made.fit());
    resizes.observe(element);
    return () => {
      resizes.disconnect();
      made.dispose();
    };
  }, [sessionId, id, wasShown]);

  useEffect(() => {
    if (place.current !== null) terminal?.retheme(place.current);
  }, [terminal, theme]);

  useEffect(() => {
    if (terminal !== null) terminal.screen.options.screenReaderMode = readerMode;
  }, [terminal, readerMode]);

  useEffect(() => {
    if (shown && active) terminal?.screen.focus();
  }, [terminal, shown, active, focus]);

  const openMenu = (event: MouseEvent) => {
    event.preventDefault();
    setMenu({ x: event.clientX, y: event.clientY });
  };

  return (
    <div
      className="terminal-pane"
      data-active={active}
      hidden={!shown}
      role="group"
      aria-label={`Terminal of ${node}`}
      onFocus={onActive}
      onContextMenu={openMenu}
    >
      <header>
        {node}
        {status !== null && <span> ended{status === 0 ? "" : ` with status ${status}`}</span>}
      </header>
      <div className="terminal-place" ref={place} />
      {menu !== null && terminal !== null && <TerminalMenu at={menu} terminal={terminal} node={node} onClose={() => setMenu(null)} />}
    </div>
  );
}
