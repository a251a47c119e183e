/** Arrow keys in a list of tabs, following the ARIA Authoring Practices. */

import type { KeyboardEvent } from "react";

export function tabKeys<T extends string>(
  tabs: readonly T[],
  current: T,
  show: (tab: T) => void,
): (event: KeyboardEvent<HTMLElement>) => void {
  return (event) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const place = (tabs.indexOf(current) + by + tabs.length) % tabs.length;
    const next = tabs[place];
    if (next === undefined) return;
    event.preventDefault();
    show(next);
    const buttons = event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]");
    buttons[place]?.focus();
  };
}
