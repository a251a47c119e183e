/** Addresses that a network gets automatically where none are written, as the server's check returns them. */

import type { CheckedNetwork } from "../api/types";
import type { DrawnLink, DrawnNode, Drawing } from "./drawing";

/**
 * A drawing with the addresses of a check, which may be of an earlier text.
 *
 * A node has the address of its first interface, and a link those of the others.
 */
export function withAssigned(drawing: Drawing, network: CheckedNetwork | null): Drawing {
  if (network === null) return drawing;
  const hosts = new Map(network.hosts.map((host) => [host.name, host]));
  const first = new Set(drawing.nodes.flatMap(({ kind, interfaces: [name] }) => (kind === "switch" || name === undefined ? [] : [name])));
  const node = (one: DrawnNode): DrawnNode => {
    const address = one.kind === "switch" || one.interfaces.length === 0 ? null : (hosts.get(one.name)?.address ?? null);
    return one.address !== null || address === null ? one : { ...one, address };
  };
  const link = (one: DrawnLink): DrawnLink => {
    const checked = network.links[one.index];
    if (checked === undefined || checked.a !== one.ends[0] || checked.b !== one.ends[1]) return one;
    const at = (end: 0 | 1) => one.addresses[end] ?? (first.has(one.interfaces[end]) ? null : checked.addresses[end]);
    return { ...one, addresses: [at(0), at(1)] };
  };
  return { ...drawing, nodes: drawing.nodes.map(node), links: drawing.links.map(link) };
}
