/** One terminal on the page: hidden or not, it keeps its screen content. */

import { useEffect, useRef, useState, type MouseEvent } from "react";

import type { TerminalInfo } from "../api/types";
import { useThemeVersion } from "../charts/useThemeVersion";
import { useLive } from "../live/store";
import { useTerminals } from "./store";
import { LiveTerminal } from "./terminal";
import { TerminalMenu } from "./TerminalMenu";

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
      {menu !== null && terminal !== null && <TerminalMenu at={menu} terminal={terminal} onClose={() => setMenu(null)} />}
    </div>
  );
}
