/** The context menu of a node, a link, a flow, or the empty canvas. */

import type { MenuItem } from "../app/Menu";
import { MenuList } from "../app/Menu";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import { drawingOf } from "../documents/useDrawing";
import { startCapture } from "../packets/store";
import { openTerminal } from "../terminals/open";
import { ALIGNMENTS } from "./arrange";
import type { Alignment } from "./arrange";
import { arrange, copySelection, deleteSelection, duplicate, groupSelection, hasClip, layOut, pasteClip, placeNode, putInto, selectAll } from "./commands";
import type { Point } from "./geometry";

/** A switch of many ports would fill the screen. */
const MAX_CAPTURE_ITEMS = 8;

export type MenuTarget = { kind: "node"; name: string } | { kind: "link"; index: number } | { kind: "flow"; name: string } | { kind: "selection" } | { kind: "pane"; at: Point };

export interface OpenMenu {
  target: MenuTarget;
  /** In the canvas's frame, in pixels of the screen. */
  left: number;
  top: number;
}

export const ALIGN_WORDS: Record<Alignment, string> = {
  left: "Align left",
  centre: "Align centres",
  right: "Align right",
  top: "Align tops",
  middle: "Align middles",
  bottom: "Align bottoms",
};

interface ContextMenuProps {
  documentId: string;
  menu: OpenMenu;
  close: () => void;
  rename: (name: string) => void;
  begin: (tool: "link" | "flow", name: string) => void;
  fit: () => void;
  note: (at: Point) => void;
}

export function ContextMenu({ documentId, menu, close, rename, begin, fit, note }: ContextMenuProps) {
  return <MenuList items={itemsFor()} label="Actions" close={close} style={{ left: menu.left, top: menu.top }} />;

  function itemsFor(): MenuItem[] {
    const { target } = menu;
    const remove: MenuItem = { label: "Delete", keys: "Del", separated: true, act: () => deleteSelection(documentId) };
    const properties: MenuItem = { label: "Properties", act: () => useUi.getState().set({ rightTab: "properties" }) };
    switch (target.kind) {
      case "node":
        return [
          { label: "Open a terminal", keys: "T", act: () => terminalAt(documentId, target.name) },
          { label: "Rename", keys: "Enter", act: () => rename(target.name) },
          properties,
          ...capturesAt(documentId, (one) => one.kind === "node" && one.name === target.name),
          { label: "Link from here", keys: "L", separated: true, act: () => begin("link", target.name) },
          { label: "Flow from here", keys: "F", act: () => begin("flow", target.name) },
          { label: "Copy", keys: "Ctrl+C", separated: true, act: () => copySelection(documentId) },
          { label: "Duplicate", keys: "Ctrl+D", act: () => duplicate(documentId) },
          remove,
        ];
      case "link":
        return [
          properties,
          ...capturesAt(documentId, (one) => one.kind === "link" && one.index === target.index),
          { label: "Insert a switch", separated: true, act: () => putInto(documentId, target.index, "switch") },
          { label: "Insert a router", act: () => putInto(documentId, target.index, "router") },
          remove,
        ];
      case "flow":
        return [properties, remove];
      case "selection":
        return [
          { label: "Copy", keys: "Ctrl+C", act: () => copySelection(documentId) },
          { label: "Duplicate", keys: "Ctrl+D", act: () => duplicate(documentId) },
          { label: "Group", act: () => groupSelection(documentId) },
          ...ALIGNMENTS.map((how, index): MenuItem => ({ label: ALIGN_WORDS[how], separated: index === 0, act: () => arrange(documentId, how) })),
          { label: "Distribute horizontally", separated: true, act: () => arrange(documentId, "x") },
          { label: "Distribute vertically", act: () => arrange(documentId, "y") },
          remove,
        ];
      case "pane":
        return [
          { label: "Host here", act: () => placeNode(documentId, "host", target.at) },
          { label: "Switch here", act: () => placeNode(documentId, "switch", target.at) },
          { label: "Router here", act: () => placeNode(documentId, "router", target.at) },
          { label: "Note here", act: () => note(target.at) },
          { label: "Paste", keys: "Ctrl+V", separated: true, disabled: !hasClip(), act: () => pasteClip(documentId) },
          { label: "Select all", keys: "Ctrl+A", act: () => selectAll(documentId) },
          { label: "Lay out automatically", keys: "A", separated: true, act: () => layOut(documentId) },
          { label: "Show everything", keys: "0", act: fit },
        ];
    }
  }
}

/** Captures at the interfaces of a link, or of a node. */
function capturesAt(documentId: string, isWanted: (at: { kind: "link"; index: number } | { kind: "node"; name: string }) => boolean): MenuItem[] {
  const document = documentOf(documentId);
  if (document === null) return [];
  const names = drawingOf(document).links.flatMap((link) =>
    link.interfaces.filter((_, side) => {
      const node = link.ends[side] ?? "";
      return isWanted({ kind: "link", index: link.index }) || isWanted({ kind: "node", name: node });
    }),
  );
  return [...new Set(names)].slice(0, MAX_CAPTURE_ITEMS).map((name, index) => ({
    label: `Capture packets at ${name}`,
    separated: index === 0,
    act: () => void startCapture(document, name),
  }));
}

export function terminalAt(documentId: string, name: string): void {
  const document = documentOf(documentId);
  if (document !== null) openTerminal(document, name);
}
