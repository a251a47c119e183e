/** Adding, changing and removing nodes. Renaming has its own module. */

import type { Drawing, NodeKind } from "../drawing";
import { edited } from "../yaml/edited";
import type { Path } from "../yaml/source";
import { freeName, namesOf } from "./common";
import { removeNodeDecor } from "./decor";
import { removeNode, writeAddress, writeField, writeForwards, writeNode } from "./entries";
import { removeFlows } from "./flows";
import { place } from "./layout";
import { removeLinksOf } from "./links";
import { removeSetupOf } from "./setup";

export interface Added {
  text: string;
  name: string;
}

/** A new node with the next free name. A host or router gets its addresses automatically. */
export function addNode(text: string, drawing: Drawing, kind: NodeKind, at: { x: number; y: number }): Added {
  const name = freeName(kind, namesOf(drawing));
  const next = edited(text, (draft) => {
    writeNode(draft, drawing.networkPath, kind, name);
    place(draft, { [name]: at });
  });
  return { text: next, name };
}

/** With their links, flows, set-up lines and places. */
export function removeNodes(text: string, drawing: Drawing, names: ReadonlySet<string>): string {
  return edited(text, (draft) => {
    removeLinksOf(draft, drawing, names);
    removeFlows(draft, (flow) => names.has(flow.source) || names.has(flow.target), drawing);
    removeSetupOf(draft, names);
    removeNodeDecor(draft, drawing, names);
    for (const node of drawing.nodes) {
      if (!names.has(node.name)) continue;
      removeNode(draft, drawing.networkPath, node.name);
      draft.remove(["layout", node.name], { prune: true });
    }
  });
}

/** The address of a host's first interface; null removes it. */
export function setAddress(text: string, networkPath: Path, name: string, address: string | null): string {
  return edited(text, (draft) => writeAddress(draft, networkPath, name, address));
}

/** Whether the host passes on packets that are not for itself. */
export function setForwards(text: string, networkPath: Path, name: string, forwards: boolean): string {
  return edited(text, (draft) => writeForwards(draft, networkPath, name, forwards));
}

/** Another field of a host, such as `timer_latency`; null removes it. */
export function setHostField(text: string, networkPath: Path, name: string, field: string, typed: string | null): string {
  return edited(text, (draft) => writeField(draft, networkPath, name, field, typed));
}

/** All routes of a host: networks, or `default`, with the next router's address, or several with commas between. */
export function setRoutes(text: string, networkPath: Path, name: string, routes: readonly { to: string; via: string }[]): string {
  const value = Object.fromEntries(routes.map(({ to, via }) => [to, nextHops(via)]));
  return edited(text, (draft) => writeField(draft, networkPath, name, "routes", routes.length === 0 ? null : value));
}

/** One address, or a list of those that commas separate. */
function nextHops(via: string): string | string[] {
  const hops = via.split(",").map((hop) => hop.trim()).filter((hop) => hop !== "");
  return hops.length > 1 ? hops : via.trim();
}
