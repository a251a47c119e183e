/** The tools of the palette with their keys and hints. */

import type { Tool } from "../app/ui";

export interface ToolInfo {
  tool: Tool;
  key: string;
  name: string;
  hint: string;
}

export const TOOLS: readonly ToolInfo[] = [
  { tool: "select", key: "V", name: "Select", hint: "Drag to select an area; Shift adds to the selection. The middle or right button moves the canvas." },
  { tool: "host", key: "H", name: "Host", hint: "Click on the canvas to place a host. Enter places one in the middle." },
  { tool: "switch", key: "S", name: "Switch", hint: "Click on the canvas to place a switch. Enter places one in the middle." },
  { tool: "router", key: "R", name: "Router", hint: "Click on the canvas to place a router. Enter places one in the middle." },
  { tool: "link", key: "L", name: "Link", hint: "Click a node, then the one to link it to; or drag. By keyboard: Tab, Enter." },
  { tool: "flow", key: "F", name: "Flow", hint: "Click the host that sends, then the one that receives. By keyboard: Tab, Enter." },
  { tool: "note", key: "N", name: "Note", hint: "Click on the canvas to add a note. Enter adds one in the middle." },
];

export function toolOfKey(key: string): Tool | null {
  return TOOLS.find((one) => one.key === key.toUpperCase())?.tool ?? null;
}
