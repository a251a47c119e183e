import { expect, it } from "vitest";
import type { CheckedHost, CheckedLink, CheckedNetwork } from "../api/types";
import { withAssigned } from "./assigned";
import { readDrawing } from "./drawing";

const TEXT = "network:\n  hosts: [h1, h2]\n  routers: [r1]\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n";

function host(name: string, address: string | null): CheckedHost {
  return { name, address, forwards: name === "r1", routes: [], interfaces: [] };
}

function link(a: string, b: string, addresses: [string | null, string | null]): CheckedLink {
  return { a, b, interfaces: ["", ""], addresses, impairments: [{}, {}] as unknown as CheckedLink["impairments"], tc: [[], []], mtu_bytes: null };
}

const CHECKED: CheckedNetwork = {
  hosts: [host("h1", "10.0.1.1/24"), host("h2", "10.0.2.1/24"), host("r1", "10.0.1.254/24")],
  switches: [{ name: "s1", interfaces: [] }],
  links: [
    link("h1", "s1", ["10.0.1.1/24", null]),
    link("r1", "s1", ["10.0.1.254/24", null]),
    link("r1", "h2", ["10.0.2.254/24", "10.0.2.1/24"]),
  ],
};

function shown(text: string, network: CheckedNetwork | null = CHECKED) {
  const { nodes, links } = withAssigned(readDrawing(text), network);
  return [nodes.map(({ name, address }) => [name, address]), links.map(({ addresses }) => addresses)];
}

it("shows a node's first address below it, and the others at its links", () => {
  expect(shown(TEXT)).toEqual([
    [["h1", "10.0.1.1/24"], ["h2", "10.0.2.1/24"], ["r1", "10.0.1.254/24"], ["s1", null]],
    [[null, null], [null, null], ["10.0.2.254/24", null]],
  ]);
});

it("shows what is written where it differs, and nothing of the check before a change elsewhere", () => {
  const typed = TEXT.replace("[h1, h2]", "{h1: 10.9.0.1/24, h2: , h3: }").replace("[r1, h2]", "[r1, h2, {addresses: {r1: 10.8.0.9/24}}]");
  expect(shown(typed)[0]).toContainEqual(["h1", "10.9.0.1/24"]);
  expect(shown(typed)[0]).toContainEqual(["h3", null]);
  expect(shown(typed)[1]).toContainEqual(["10.8.0.9/24", null]);
  // The last link has another number.
  const fewer = TEXT.replace("[r1, s1], ", "");
  expect(shown(fewer)[1]).toEqual([[null, null], [null, null]]);
  // A host without links has no interface that could have an address.
  expect(shown(TEXT.replace("[h1, s1], ", ""))[0]).toContainEqual(["h1", null]);
  expect(shown(TEXT, null)[0]).toContainEqual(["h1", null]);
});
