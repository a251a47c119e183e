import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { readDrawing } from "../drawing";
import type { NodeKind } from "../drawing";
import { copy, paste } from "./clipboard";
import { splitLink } from "./links";
import { addNode, removeNodes, setAddress, setForwards, setHostField, setRoutes } from "./nodes";
import { renameNode } from "./rename";

const NET = ["network"];
const AT = { x: 0, y: 0 };

/** The same network in each form that a person may write. */
const FORMS: Record<string, string> = {
  "lists on a line": "network:\n  hosts: [h1, h2]   # both\n  routers: [r1]\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "lists with a line each":
    "network:\n  hosts:\n    # Clients.\n    - h1   # one\n    - h2\n  routers:\n    - r1\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "lists as far left as their keys": "network:\n  hosts:\n  - h1   # one\n  - h2\n  routers:\n  - r1\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "lists on several lines": "network:\n  hosts: [h1,   # one\n          \"h2\"]\n  routers: [\n    r1\n  ]\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  mappings: "network:\n  hosts: {h1: , h2: }   # both\n  routers: {r1: }\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "mappings with a line each": "network:\n  hosts:\n    h1:   # one\n    h2:\n  routers:\n    r1:\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "a router among hosts": "network:\n  hosts: {h1: , h2: , r1: {forwards: yes}}\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
  "an alias": "network:\n  hosts: &names [h1, h2]\n  routers: [r1]\n  switches: [s1]\n  links: [[h1, s1], [r1, s1], [r1, h2]]\n",
};
const all = Object.entries(FORMS);

/** What is drawn, without the places in the text. */
function network(text: string) {
  const { nodes, links, problems } = readDrawing(text);
  expect(problems).toEqual([]);
  return {
    nodes: nodes.map(({ name, kind, address, routes, fields: { timer_latency } }) => ({ name, kind, address, routes, timer_latency })),
    links: links.map(({ ends, interfaces, addresses }) => ({ ends, interfaces, addresses })),
  };
}

function named(text: string): [string, NodeKind][] {
  return readDrawing(text).nodes.map(({ name, kind }) => [name, kind]);
}

function comments(text: string): string[] {
  return text.match(/#.*/g) ?? [];
}

/** Whether `hosts`, and `routers`, are a list or a mapping. */
function forms(text: string): (string | null)[] {
  const { hosts, routers } = (parse(text) as { network: Record<string, unknown> }).network;
  return [hosts, routers].map((one) => (one === undefined ? null : Array.isArray(one) ? "list" : "mapping"));
}

describe.each(all)("%s", (_, text) => {
  const drawing = readDrawing(text);
  const isList = forms(text)[0] === "list";

  it("are the same network", () => {
    expect(network(text)).toEqual(network(FORMS["lists on a line"] ?? ""));
    expect(drawing.nodes.map(({ line }) => line).every((line) => line > 1)).toBe(true);
  });

  it("keep their form when a host is added and removed", () => {
    const added = addNode(text, drawing, "host", AT);
    expect(added.name).toBe("h3");
    expect(forms(added.text)).toEqual(forms(text));
    expect(named(added.text).filter(([name]) => name === "h3")).toEqual([["h3", "host"]]);
    expect(removeNodes(added.text, readDrawing(added.text), new Set(["h3"]))).toBe(text);
    expect(added.text).not.toMatch(/\d\.\d/);
  });

  it("have a new router below `routers`, and no such field without one", () => {
    const { text: added } = addNode(text, drawing, "router", AT);
    expect(named(added).filter(([, kind]) => kind === "router").map(([name]) => name).sort()).toEqual(["r1", "r2"]);
    expect(forms(added)[1]).toBe(forms(text)[1] ?? "list");
    expect(removeNodes(added, readDrawing(added), new Set(["r2"]))).toBe(text);
    const none = removeNodes(added, readDrawing(added), new Set(["r1", "r2"]));
    expect(none).not.toContain("routers");
    expect(named(none)).toEqual([["h1", "host"], ["h2", "host"], ["s1", "switch"]]);
  });

  it("can lose all nodes", () => {
    const none = removeNodes(text, drawing, new Set(drawing.nodes.map(({ name }) => name)));
    expect(network(none)).toEqual({ nodes: [], links: [] });
    expect(named(addNode(none, readDrawing(none), "host", AT).text)).toEqual([["h1", "host"]]);
  });

  it.each(["h1", "h2", "r1"])("get a property at %s, and nothing else changes", (name) => {
    const addressed = setAddress(text, NET, name, "10.9.0.1/24");
    const full = setRoutes(setHostField(addressed, NET, name, "timer_latency", "50us"), NET, name, [{ to: "default", via: "10.9.0.9" }]);
    const before = network(text);
    expect(network(addressed)).toEqual({ ...before, nodes: before.nodes.map((node) => (node.name === name ? { ...node, address: "10.9.0.1/24" } : node)) });
    expect(network(full).nodes.find((node) => node.name === name)).toMatchObject({
      address: "10.9.0.1/24",
      timer_latency: "50us",
      routes: [{ to: "default", via: "10.9.0.9" }],
    });
    for (const one of [addressed, full]) {
      expect(comments(one)).toEqual(comments(text));
      expect(network(one).nodes.map((node) => node.name)).toEqual(before.nodes.map((node) => node.name));
    }
    const again = setAddress(setHostField(setRoutes(full, NET, name, []), NET, name, "timer_latency", null), NET, name, null);
    expect(network(again)).toEqual(before);
    if (!isList) expect(again).toBe(text);
  });

  it("have nothing to remove where nothing is written", () => {
    for (const name of ["h1", "h2"]) {
      expect(setAddress(text, NET, name, null)).toBe(text);
      expect(setHostField(text, NET, name, "timer_latency", null)).toBe(text);
      expect(setRoutes(text, NET, name, [])).toBe(text);
      expect(setForwards(text, NET, name, false)).toBe(text);
    }
    expect(setForwards(text, NET, "r1", true)).toBe(text);
  });

  it("make a router of a host, and a host of a router", () => {
    const router = setForwards(text, NET, "h2", true);
    expect(new Map(named(router))).toEqual(new Map([...named(text), ["h2", "router"]]));
    expect(forms(router)[0]).toBe(forms(text)[0]);
    const host = setForwards(text, NET, "r1", false);
    expect(new Map(named(host))).toEqual(new Map([...named(text), ["r1", "host"]]));
    const addressed = setForwards(setAddress(text, NET, "r1", "10.9.0.1/24"), NET, "r1", false);
    expect(network(addressed).nodes.find(({ name }) => name === "r1")).toMatchObject({ kind: "host", address: "10.9.0.1/24" });
    for (const one of [router, host, addressed]) {
      expect(network(one).links).toEqual(network(text).links);
      expect(network(one).nodes).toHaveLength(4);
    }
  });

  it.each(["h1", "h2", "r1"])("are renamed: %s", (name) => {
    const renamed = renameNode(text, drawing, name, "edge");
    expect(forms(renamed)).toEqual(forms(text));
    expect(renameNode(renamed, readDrawing(renamed), "edge", name)).toBe(text);
    expect(named(renamed)).toEqual(named(text).map(([one, kind]) => [one === name ? "edge" : one, kind]));
    expect(readDrawing(renamed).links).toHaveLength(3);
  });

  it("are copied and pasted without addresses", () => {
    const clip = copy(text, drawing, new Set(["h2", "r1"]), {});
    const pasted = paste(text, drawing, clip, AT);
    expect(pasted.names).toEqual(["h3", "r2"]);
    expect(new Map(named(pasted.text))).toEqual(new Map([...named(text), ["h3", "host"], ["r2", "router"]]));
    expect(network(pasted.text).links.at(-1)?.ends).toEqual(["r2", "h3"]);
    expect(pasted.text).not.toMatch(/\d\.\d/);
  });

  it("get a node in a link", () => {
    for (const kind of ["host", "router", "switch"] as const) {
      const first = drawing.links[0];
      if (first === undefined) throw new Error("no link");
      const split = splitLink(text, drawing, first, kind);
      expect(new Map(named(split.text)).get(split.name)).toBe(kind);
      expect(network(split.text).links[0]?.ends).toEqual(["h1", split.name]);
    }
  });
});

describe("lists of names", () => {
  const text = FORMS["lists on a line"] ?? "";

  it("become mappings with a property, with comments and order", () => {
    expect(setAddress(text, NET, "h1", "10.9.0.1/24")).toBe(text.replace("[h1, h2]", "{h1: 10.9.0.1/24, h2: }"));
    expect(setHostField(text, NET, "r1", "timer_latency", "50us")).toBe(text.replace("[r1]", "{r1: {timer_latency: 50us}}"));
    const block = FORMS["lists with a line each"] ?? "";
    expect(setHostField(block, NET, "h1", "timer_latency", "50us")).toBe(
      block.replace("    - h1   # one\n    - h2\n", "    h1: {timer_latency: 50us}   # one\n    h2:\n"),
    );
    const left = FORMS["lists as far left as their keys"] ?? "";
    expect(setAddress(left, NET, "h2", "10.9.0.1/24")).toBe(left.replace("  - h1   # one\n  - h2\n", "    h1:   # one\n    h2: 10.9.0.1/24\n"));
  });

  it("are drawn as far as they are names", () => {
    expect(named("network: {hosts: [h1, {h2: 1}, [h3], h1, ], routers: [h1, r1]}\n")).toEqual([["h1", "host"], ["r1", "router"]]);
    expect(() => setAddress("network: {hosts: [h1, {h2: 1}]}\n", NET, "h1", "10.0.0.1/8")).toThrow("is not a list of names");
  });

  it("are of the chosen case where it has its own network", () => {
    const own = "cases:\n  a: {network: {hosts: [h1, h2], routers: [r1], links: [[h1, r1]]}}\n";
    const drawing = readDrawing(own, "a");
    expect(drawing.nodes.map(({ path }) => path.at(-1))).toEqual([0, 1, 0]);
    expect(renameNode(own, drawing, "r1", "edge")).toBe(own.replaceAll("r1", "edge"));
    expect(setForwards(own, drawing.networkPath, "h2", true)).toBe(own.replace("[h1, h2]", "[h1]").replace("[r1]", "[r1, h2]"));
  });

  it("say `forwards: no` of a router that does not forward", () => {
    const off = "network:\n  hosts: [h1]\n  routers: {r1: {forwards: no}}\n";
    expect(named(off)).toEqual([["h1", "host"], ["r1", "host"]]);
    expect(setForwards(off, NET, "r1", true)).toBe(off.replace("{forwards: no}", ""));
  });
});
