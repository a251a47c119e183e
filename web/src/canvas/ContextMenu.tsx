/** What can be done with a node, a link, a flow, or the empty canvas. */

import type { MenuItem } from "../app/Menu";
import { MenuList } from "../app/Menu";
import { useUi } from "../app/ui";
import { documentOf } from "../documents/change";
import { openTerminal } from "../terminals/open";
import { copySelection, deleteSelection, duplicate, hasClip, layOut, pasteClip, placeNode, putInto, selectAll } from "./commands";
import type { Point } from "./geometry";

export type MenuTarget = { kind: "node"; name: string } | { kind: "link"; index: number } | { kind: "flow"; name: string } | { kind: "pane"; at: Point };

export interface OpenMenu {
  target: MenuTarget;
  /** In the canvas's frame, in pixels of the screen. */
  left: number;
  top: number;
}

interface ContextMenuProps {
  documentId: string;
  menu: OpenMenu;
  close: () => void;
  rename: (name: string) => void;
  begin: (tool: "link" | "flow", name: string) => void;
  fit: () => void;
}

export function ContextMenu({ documentId, menu, close, rename, begin, fit }: ContextMenuProps) {
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
          { label: "Link from here", keys: "L", separated: true, act: () => begin("link", target.name) },
          { label: "Flow from here", keys: "F", act: () => begin("flow", target.name) },
          { label: "Copy", keys: "Ctrl+C", separated: true, act: () => copySelection(documentId) },
          { label: "Duplicate", keys: "Ctrl+D", act: () => duplicate(documentId) },
          remove,
        ];
      case "link":
        return [
          properties,
          { label: "Put a switch in the middle", act: () => putInto(documentId, target.index, "switch") },
          { label: "Put a router in the middle", act: () => putInto(documentId, target.index, "router") },
          remove,
        ];
      case "flow":
        return [properties, remove];
      case "pane":
        return [
          { label: "Host here", act: () => placeNode(documentId, "host", target.at) },
          { label: "Switch here", act: () => placeNode(documentId, "switch", target.at) },
          { label: "Router here", act: () => placeNode(documentId, "router", target.at) },
          { label: "Paste", keys: "Ctrl+V", separated: true, disabled: !hasClip(), act: () => pasteClip(documentId) },
          { label: "Select all", keys: "Ctrl+A", act: () => selectAll(documentId) },
          { label: "Lay out automatically", keys: "A", separated: true, act: () => layOut(documentId) },
          { label: "Show everything", keys: "0", act: fit },
        ];
    }
  }
}

export function terminalAt(documentId: string, name: string): void {
  const document = documentOf(documentId);
  if (document !== null) openTerminal(document, name);
}
