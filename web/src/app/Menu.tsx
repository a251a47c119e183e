/** A menu that opens from a button, or at a point: arrow keys, Enter, Escape, first letters. */

import type { KeyboardEvent, ReactNode } from "react";
import { useEffect, useId, useRef, useState } from "react";

export interface MenuItem {
  label: string;
  /** Shown at the right, such as "Ctrl+C". */
  keys?: string;
  disabled?: boolean;
  /** A separator above it. */
  separated?: boolean;
  act: () => void;
}

interface MenuListProps {
  items: readonly MenuItem[];
  label: string;
  close: () => void;
  style?: { left: number; top: number };
}

export function MenuList({ items, label, close, style }: MenuListProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    list.current?.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const onPointer = (event: PointerEvent) => {
      if (event.target instanceof Node && !list.current?.parentElement?.contains(event.target)) close();
    };
    document.addEventListener("pointerdown", onPointer, true);
    return () => {
      document.removeEventListener("pointerdown", onPointer, true);
      if (before instanceof HTMLElement && document.activeElement === document.body) before.focus();
    };
  }, [close]);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
    const at = buttons.findIndex((button) => button === document.activeElement);
    const go = (index: number) => buttons[(index + buttons.length) % buttons.length]?.focus();
    event.stopPropagation();
    if (event.key === "ArrowDown") go(at + 1);
    else if (event.key === "ArrowUp") go(at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(buttons.length - 1);
    else if (event.key === "Escape" || event.key === "Tab") close();
    else if (/^\w$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
      const later = [...buttons.slice(at + 1), ...buttons.slice(0, at + 1)];
      later.find((button) => button.textContent.toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else return;
    event.preventDefault();
  };

  return (
    <div ref={list} className="menu-list" role="menu" aria-label={label} style={style} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          className={item.separated ? "menu-item menu-separated" : "menu-item"}
          disabled={item.disabled}
          onClick={() => {
            close();
            item.act();
          }}
        >
          <span>{item.label}</span>
          {item.keys !== undefined && <kbd>{item.keys}</kbd>}
        </button>
      ))}
    </div>
  );
}

export function MenuButton({ label, items, children }: { label: string; items: readonly MenuItem[]; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const close = useRef(() => setOpen(false)).current;
  const id = useId();
  return (
    <div className="menu">
      <button
        id={id}
        type="button"
        className="bar-button"
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") {
            event.preventDefault();
            setOpen(true);
          }
        }}
      >
        {children}
      </button>
      {open && <MenuList items={items} label={label} close={close} />}
    </div>
  );
}
