import { describe, expect, it } from "vitest";
import { readDrawing } from "../drawing";
import { edited } from "../yaml/edited";
import { copy, paste } from "./clipboard";
import { addGroup, addNote, moveNote, setColours, setGroupNodes, setNoteColour, setNoteText } from "./decor";
import { addFlow, renameFlow, setFlowEnds, setFlowField, setFlowTool } from "./flows";
import { move } from "./layout";
import { addLink, makeSame, moveLinkEnd, removeLinks, renumbered, setLinkAddress, setLinkField, setProperty, splitLink } from "./links";
import { addNode, removeNodes, setAddress, setForwards, setHostField, setRoutes } from "./nodes";
import { renameNode } from "./rename";
import { addSetupLine, removeSetupLine, setSetupLine, setSysctl } from "./setup";
import { newStudyText, setNetworkField, setStudyField } from "./study";

const TEXT = `# Queues.
title: Router buffers
kernel: "6.1"

network:
  hosts: {h1: 10.0.0.1/8,  h2: 10.0.0.2/8, r1: {forwards: yes}}
  switches: [s1, s2]   # two
  links: [[h1, s1], [s1, s2, {rate: 1gbit}], [h2, s2]]    # so s1-eth2 faces s2

setup:
  # The bottleneck.
  - root: "tc qdisc add dev s1-eth2 root netem delay 20ms"
  - [h1, h2]:
      - sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'   # read
      - sysctl -w net.ipv4.tcp_wmem='10240 87380 16777216'

flows:
  bulk: {iperf3: h1 -> h2, time: 90s}
  # A person is slower.
  rtt: {ping: h2 -> h1, count: 4, after: bulk}

probes:
  queue: {of: s1-eth2, every: 100ms}
  tcp: {of: bulk}

cases:
  as-it-is:
  other:
    setup:
      - root: &there "tc qdisc add dev h1-eth0 root netem"
    flows: {bulk: }
  same: {setup: [{root: *there}]}
`;

const drawing = readDrawing(TEXT);
const NET = ["network"];

/** The lines that differ, as in a patch. */
function changes(before: string, after: string): string[] {
  const old = before.split("\n");
  const fresh = after.split("\n");
  return [...old.filter((line) => !fresh.includes(line)).map((line) => `-${line}`), ...fresh.filter((line) => !old.includes(line)).map((line) => `+${line}`)];
}

function link(index: number, text = TEXT) {
  const found = readDrawing(text).links[index];
  if (found === undefined) throw new Error("no such link");
  return found;
}

function withoutLink(text: string, index: number): string {
  return edited(text, (draft) => removeLinks(draft, NET, [index]));
}

describe("reading", () => {
  it("finds nodes, links, flows, lines and cases", () => {
    expect(drawing.nodes.map((node) => [node.name, node.kind, node.interfaces])).toEqual([
      ["h1", "host", ["h1-eth0"]],
      ["h2", "host", ["h2-eth0"]],
      ["r1", "router", []],
      ["s1", "switch", ["s1-eth1", "s1-eth2"]],
      ["s2", "switch", ["s2-eth1", "s2-eth2"]],
    ]);
    expect(drawing.links[1]?.common).toEqual({ rate: "1gbit" });
    expect(drawing.flows.map((flow) => [flow.name, flow.tool, flow.source, flow.target])).toEqual([
      ["bulk", "iperf3", "h1", "h2"],
      ["rtt", "ping", "h2", "h1"],
    ]);
    expect(drawing.setup.map((line) => line.nodes.join())).toEqual(["root", "h1,h2", "h1,h2"]);
    expect(drawing.kernel).toBe("6.1");
  });

  it("draws what it can of a broken text", () => {
    const half = readDrawing("network:\n  hosts: {h1: 10.0.0.1/8, h2: }\n  links: [[h1, h2], [h1, nobody], [h1\n");
    expect(half.nodes).toHaveLength(2);
    expect(half.links).toHaveLength(1);
    expect(half.problems.length).toBeGreaterThan(0);
    expect(readDrawing("").nodes).toEqual([]);
    expect(readDrawing("- just\n- a list\n").nodes).toEqual([]);
  });

  it("shows the chosen case's own network where there is no common one", () => {
    const text = "cases:\n  a: {network: {hosts: {h1: , h2: }, links: [[h1, h2]]}}\n";
    expect(readDrawing(text, "a").networkPath).toEqual(["cases", "a", "network"]);
    expect(addLink(text, ["cases", "a", "network"], "h1", "h2")).toContain("links: [[h1, h2], [h1, h2]]");
  });
});

describe("nodes", () => {
  it("adds a host with the next name, and nothing else changes", () => {
    const { text, name } = addNode(TEXT, drawing, "host", { x: 10, y: 20 });
    expect(name).toBe("h3");
    expect(changes(TEXT, text)).toEqual([
      "-  hosts: {h1: 10.0.0.1/8,  h2: 10.0.0.2/8, r1: {forwards: yes}}",
      "+  hosts: {h1: 10.0.0.1/8,  h2: 10.0.0.2/8, r1: {forwards: yes}, h3: }",
      "+layout:",
      "+  h3: [10, 20]",
    ]);
  });

  it("adds to an empty study", () => {
    let text = newStudyText("Mine");
    text = addNode(text, readDrawing(text), "host", { x: 0, y: 0 }).text;
    text = addNode(text, readDrawing(text), "switch", { x: 0, y: 0 }).text;
    text = addNode(text, readDrawing(text), "router", { x: 0, y: 0 }).text;
    text = addLink(text, NET, "h1", "s1");
    expect(text).toContain("hosts: [h1]\n  routers: [r1]\n  switches: [s1]\n  links: [[h1, s1]]");
    const bare = addNode("title: x\n", readDrawing("title: x\n"), "switch", { x: 1, y: 2 }).text;
    expect(readDrawing(bare).nodes.map((node) => node.name)).toEqual(["s1"]);
    const none = addNode("", readDrawing(""), "host", { x: 1, y: 2 }).text;
    expect(readDrawing(none).nodes.map((node) => node.name)).toEqual(["h1"]);
  });

  it("removes a node with all references to it", () => {
    const text = removeNodes(TEXT, drawing, new Set(["h2"]));
    const after = readDrawing(text);
    expect(after.nodes.map((node) => node.name)).toEqual(["h1", "r1", "s1", "s2"]);
    expect(after.links.map((one) => one.ends.join())).toEqual(["h1,s1", "s1,s2"]);
    expect(after.flows).toEqual([]);
    expect(after.setup.map((line) => line.nodes.join())).toEqual(["root", "h1", "h1"]);
    expect(text).toContain("    # so s1-eth2 faces s2");
    expect(text).toContain("# The bottleneck.");
    expect(text).toContain("# read");
    expect(text).not.toContain("tcp: {of: bulk}");
  });

  it("removes the last of all", () => {
    const text = removeNodes(TEXT, drawing, new Set(drawing.nodes.map((node) => node.name)));
    const after = readDrawing(text);
    expect([after.nodes, after.links, after.problems]).toEqual([[], [], []]);
  });

  it("renames everywhere", () => {
    const text = renameNode(TEXT, drawing, "h1", "client");
    expect(text.match(/\bh1\b/g)).toBeNull();
    expect(text).toContain("[client, s1], [s1, s2, {rate: 1gbit}], [h2, s2]]    # so s1-eth2 faces s2");
    expect(text).toContain('&there "tc qdisc add dev client-eth0 root netem"');
    expect(text).toContain("  - [client, h2]:");
    expect(text).toContain("rtt: {ping: h2 -> client, count: 4, after: bulk}");
    const s1 = renameNode(text, readDrawing(text), "s1", "left");
    expect(s1).toContain("queue: {of: left-eth2, every: 100ms}");
    expect(s1).toContain('"tc qdisc add dev left-eth2 root netem delay 20ms"');
    expect(s1.match(/\bs1\b/g)).toEqual(["s1"]);
  });

  it("renames the ends in a link's properties, and no similar names", () => {
    const before = "title: a\nnetwork:\n  hosts: {a: 10.0.0.1/8, b: }\n  links: [[a, b, {to: {a: {delay: 1ms}}, addresses: {a: 10.1.0.1/8}}]]\nflows:\n  a: {iperf3: a -> b}\nprobes: {a: {of: a-eth0}}\n";
    expect(renameNode(before, readDrawing(before), "a", "c")).toBe(
      "title: a\nnetwork:\n  hosts: {c: 10.0.0.1/8, b: }\n  links: [[c, b, {to: {c: {delay: 1ms}}, addresses: {c: 10.1.0.1/8}}]]\nflows:\n  a: {iperf3: c -> b}\nprobes: {a: {of: c-eth0}}\n",
    );
  });

  it("rejects invalid names", () => {
    expect(() => renameNode(TEXT, drawing, "h1", "h2")).toThrow("There is a 'h2' already");
    expect(() => renameNode(TEXT, drawing, "h1", "a name")).toThrow("is not a valid name");
    expect(() => renameNode(TEXT, drawing, "h1", "root")).toThrow("is reserved in Linux");
  });

  it("sets addresses, forwarding and routes, and goes back to the short form", () => {
    let text = setRoutes(TEXT, NET, "h1", [{ to: "default", via: "10.0.0.9" }]);
    expect(text).toContain("{h1: {address: 10.0.0.1/8, routes: {default: 10.0.0.9}},  h2: 10.0.0.2/8,");
    const several = setRoutes(TEXT, NET, "h1", [{ to: "default", via: "10.0.0.8, 10.0.0.9" }]);
    expect(several).toMatch(/h1: \{address: 10.0.0.1\/8, routes: \{default: \[\s*10.0.0.8, 10.0.0.9\s*\]\}\}/);
    expect(readDrawing(several).nodes[0]?.routes).toEqual([{ to: "default", via: "10.0.0.8, 10.0.0.9" }]);
    text = setForwards(text, NET, "h1", true);
    expect(text).toContain("h1: {address: 10.0.0.1/8, routes: {default: 10.0.0.9}, forwards: yes},");
    text = setForwards(setRoutes(text, NET, "h1", []), NET, "h1", false);
    expect(text).toBe(TEXT);
    expect(setAddress(TEXT, NET, "h1", "10.0.0.7/8")).toBe(TEXT.replace("10.0.0.1/8", "10.0.0.7/8"));
    expect(setAddress(TEXT, NET, "h1", null)).toContain("hosts: {h1: ,  h2: 10.0.0.2/8");
    expect(setAddress(TEXT, NET, "r1", "10.0.0.7/8")).toContain("r1: {forwards: yes, address: 10.0.0.7/8}");
  });

  it("writes a host's other fields and removes them", () => {
    const text = setHostField(TEXT, NET, "h1", "timer_latency", "50us");
    expect(text).toContain("{h1: {address: 10.0.0.1/8, timer_latency: 50us},  h2:");
    expect(readDrawing(text).nodes.find((node) => node.name === "h1")?.fields).toEqual({ timer_latency: "50us" });
    expect(setHostField(text, NET, "h1", "timer_latency", null)).toBe(TEXT);
  });

  it("copies and pastes with new names, addresses and links", () => {
    const clip = copy(TEXT, drawing, new Set(["h1", "s1"]), { h1: { x: 0, y: 0 }, s1: { x: 100, y: 0 } });
    const { text, names } = paste(TEXT, drawing, clip, { x: 30, y: 30 });
    expect(names).toEqual(["h3", "s3"]);
    expect(text).toContain("r1: {forwards: yes}, h3: 10.0.0.3/8}");
    expect(text).toContain("[h2, s2], [h3, s3]]    # so");
    expect(text).toContain("  - h3: sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'");
    expect(readDrawing(text).layout.get("s3")).toEqual({ x: 130, y: 30 });
  });
});

describe("links", () => {
  it("adds and removes", () => {
    expect(addLink(TEXT, NET, "h1", "s2")).toBe(TEXT.replace("[h2, s2]]", "[h2, s2], [h1, s2]]"));
    expect(() => addLink(TEXT, NET, "h1", "h1")).toThrow("cannot be linked to itself");
    expect(withoutLink(TEXT, 0)).toBe(TEXT.replace("[h1, s1], ", ""));
    expect(withoutLink(TEXT, 1)).toBe(TEXT.replace("[s1, s2, {rate: 1gbit}], ", ""));
    expect(withoutLink(TEXT, 2)).toBe(TEXT.replace(", [h2, s2]]", "]"));
  });

  it("reports which referenced interfaces are renumbered", () => {
    const after = readDrawing(withoutLink(TEXT, 0));
    expect(renumbered(drawing, after, new Set([0]))).toEqual(["h1-eth0", "s1-eth2"]);
    expect(renumbered(drawing, readDrawing(withoutLink(TEXT, 2)), new Set([2]))).toEqual([]);
  });

  it("sets properties of both directions and of one", () => {
    let text = setProperty(TEXT, NET, link(1), "delay", "both", "20ms");
    expect(text).toBe(TEXT.replace("{rate: 1gbit}", "{rate: 1gbit, delay: 20ms}"));
    text = setProperty(text, NET, link(1, text), "delay", 0, "30ms");
    expect(text).toContain("{rate: 1gbit, delay: 20ms, to: {s2: {delay: 30ms}}}");
    text = setProperty(text, NET, link(1, text), "delay", 1, null);
    expect(text).toContain("to: {s2: {delay: 30ms}, s1: {delay: }}");
    text = setProperty(text, NET, link(1, text), "delay", "both", null);
    expect(text).toBe(TEXT);
    expect(setProperty(TEXT, NET, link(0), "loss", "both", "0.01%")).toContain("[h1, s1, {loss: 0.01%}]");
    expect(setProperty(TEXT, NET, link(1), "rate", "both", null)).toContain("[s1, s2], [h2");
    expect(setProperty(TEXT, NET, link(1), "rate", "both", "10, {x")).toContain('rate: "10, {x"');
  });

  it("makes both directions the same, sets MTU and addresses", () => {
    const text = TEXT.replace("{rate: 1gbit}", "{to: {s2: {delay: 5ms}}}");
    expect(makeSame(text, NET, link(1, text), { delay: "5ms" })).toContain("[s1, s2, {delay: 5ms}]");
    expect(setLinkField(TEXT, NET, link(0), "mtu", "9000")).toContain("[h1, s1, {mtu: 9000}]");
    expect(setLinkAddress(TEXT, NET, link(0), 0, "10.1.1.1/24")).toContain("[h1, s1, {addresses: {h1: 10.1.1.1/24}}]");
  });

  it("inserts a node into a link", () => {
    const { text } = splitLink(TEXT, drawing, link(1), "switch");
    expect(text).toContain("[s1, s3, {rate: 1gbit}], [h2, s2], [s3, s2]]");
  });

  it("writes links in block style too, and breaks long lines", () => {
    const block = "network:\n  hosts:\n    h1: 10.0.0.1/8   # one\n    h2: 10.0.0.2/8\n  links:\n    - [h1, h2]\n\n# end\n";
    const text = addLink(block, NET, "h1", "h2");
    expect(text).toBe(block.replace("    - [h1, h2]\n", "    - [h1, h2]\n    - [h1, h2]\n"));
    expect(withoutLink(text, 0)).toBe(block);
    const host = addNode(block, readDrawing(block), "host", { x: 0, y: 0 }).text;
    expect(host).toContain("    h2: 10.0.0.2/8\n    h3:\n  links:");
    let long = newStudyText("long");
    for (let number = 0; number < 30; number++) long = addNode(long, readDrawing(long), "host", { x: 0, y: 0 }).text;
    expect(Math.max(...long.split("\n").map((line) => line.length))).toBeLessThan(110);
    expect(readDrawing(long).nodes).toHaveLength(30);
  });
});

describe("setup", () => {
  it("adds, changes and removes lines", () => {
    const text = addSetupLine(TEXT, "h1", "sysctl -w net.ipv4.tcp_congestion_control=bbr");
    expect(changes(TEXT, text)).toEqual(["+  - h1: sysctl -w net.ipv4.tcp_congestion_control=bbr"]);
    const [first, second] = drawing.setup;
    if (first === undefined || second === undefined) throw new Error("no lines");
    expect(setSetupLine(TEXT, first, "root", "tc -s qdisc")).toContain("  # The bottleneck.\n  - root: tc -s qdisc\n");
    expect(setSetupLine(TEXT, first, "root", "tc x handle 1: y")).toContain('- root: "tc x handle 1: y"');
    expect(removeSetupLine(TEXT, first, "root")).not.toContain("- root: \"tc qdisc add dev s1-eth2");
    const own = readDrawing(removeSetupLine(TEXT, second, "h1"));
    expect(own.setup.map((line) => [line.nodes.join(), line.text.slice(0, 30)])).toEqual([
      ["root", "tc qdisc add dev s1-eth2 root "],
      ["h2", "sysctl -w net.ipv4.tcp_rmem='1"],
      ["h2", "sysctl -w net.ipv4.tcp_wmem='1"],
      ["h1", "sysctl -w net.ipv4.tcp_wmem='1"],
    ]);
  });

  it("sets a sysctl in its line, or in a new one", () => {
    const single = "setup:\n  - h1: sysctl -w net.ipv4.tcp_congestion_control=cubic  # why\n";
    const lines = readDrawing(single).setup;
    expect(setSysctl(single, lines, "h1", "net.ipv4.tcp_congestion_control", "bbr")).toBe(single.replace("cubic", "bbr"));
    expect(setSysctl(single, lines, "h2", "net.ipv4.tcp_rmem", "1 2 3")).toBe(`${single}  - h2: sysctl -w net.ipv4.tcp_rmem='1 2 3'\n`);
    expect(readDrawing(setSysctl(single, lines, "h1", "net.ipv4.tcp_congestion_control", null)).setup).toEqual([]);
  });

  it("starts a list where there is none", () => {
    expect(addSetupLine("title: x\n\nflows:\n  a: {ping: h1 -> h2}\n", "h1", "true")).toBe(
      "title: x\n\nsetup:\n  - h1: \"true\"\n\nflows:\n  a: {ping: h1 -> h2}\n".replace('"true"', "true"),
    );
  });
});

describe("the end of a link", () => {
  const text = "network:\n  hosts: {h1: , h2: , r1: }\n  links: [[h1, h2, {rate: 1gbit, to: {h2: {loss: 1%}}, addresses: {h2: 10.0.0.2/8}}], [h2, r1]]\n";
  it("goes to another node with the link's properties", () => {
    const link = readDrawing(text).links[0];
    if (link === undefined) throw new Error("no link");
    expect(moveLinkEnd(text, ["network"], link, 1, "r1")).toContain("[[h1, r1, {rate: 1gbit, to: {r1: {loss: 1%}}}], [h2, r1]]");
    expect(() => moveLinkEnd(text, ["network"], link, 1, "h1")).toThrow("itself");
  });
});

describe("decorations", () => {
  const drawn = addGroup(addNote(setColours(TEXT, ["h1", "s1"], "blue"), "two\nlines: #1", { x: 10.4, y: -20 }), "Site A", ["h1", "s1"]);
  it("is added below the rest, and read back", () => {
    expect(drawn.startsWith(TEXT.trimEnd())).toBe(true);
    const { notes, groups, colours } = readDrawing(drawn);
    expect(notes).toMatchObject([{ index: 0, text: "two\nlines: #1", x: 10, y: -20, colour: null }]);
    expect(groups).toMatchObject([{ index: 0, name: "Site A", nodes: ["h1", "s1"] }]);
    expect([...colours]).toEqual([["h1", "blue"], ["s1", "blue"]]);
  });
  it("is changed and removed", () => {
    const { notes, groups } = readDrawing(drawn);
    const [note, group] = [notes[0], groups[0]];
    if (note === undefined || group === undefined) throw new Error("nothing there");
    const changed = setNoteColour(moveNote(setNoteText(drawn, note, "one"), note, { x: 1, y: 2 }), note, "red");
    expect(readDrawing(changed).notes).toMatchObject([{ text: "one", x: 1, y: 2, colour: "red" }]);
    expect(readDrawing(setNoteColour(changed, note, null)).notes[0]?.colour).toBeNull();
    expect(readDrawing(setGroupNodes(drawn, group, [])).groups).toEqual([]);
    expect(setColours(addNote(TEXT, "x", { x: 0, y: 0 }), ["h1"], null)).toContain("- {text: x");
  });
  it("follows nodes that are renamed or removed", () => {
    const renamed = readDrawing(renameNode(drawn, readDrawing(drawn), "h1", "client"));
    expect(renamed.groups[0]?.nodes).toEqual(["client", "s1"]);
    expect(renamed.colours.get("client")).toBe("blue");
    const removed = removeNodes(drawn, readDrawing(drawn), new Set(["h1", "s1"]));
    expect(readDrawing(removed)).toMatchObject({ groups: [], notes: [{ text: "two\nlines: #1" }] });
    expect(readDrawing(removed).colours.size).toBe(0);
  });
});

describe("flows", () => {
  it("adds, changes and removes", () => {
    const { text, name } = addFlow(TEXT, drawing, "h2", "h1");
    expect(name).toBe("bulk2");
    expect(changes(TEXT, text)).toEqual(["+  bulk2: {iperf3: h2 -> h1, time: 10s}"]);
    const flow = drawing.flows[0];
    if (flow === undefined) throw new Error("no flow");
    expect(setFlowField(TEXT, flow, "time", "5s")).toBe(TEXT.replace("90s", "5s"));
    expect(setFlowField(TEXT, flow, "parallel", "8")).toContain("{iperf3: h1 -> h2, time: 90s, parallel: 8}");
    expect(setFlowField(TEXT, flow, "time", null)).toContain("bulk: {iperf3: h1 -> h2}");
    expect(setFlowEnds(TEXT, flow, "h2", "h1")).toContain("bulk: {iperf3: h2 -> h1, time: 90s}");
    const changed = setFlowTool(TEXT, drawing, flow, "ping", new Set(["start", "after"]));
    expect(changed.name).toBe("ping");
    expect(changed.text).toContain("ping: {ping: h1 -> h2}");
    expect(changed.text).toContain("after: ping}");
    const named = renameFlow(TEXT, drawing, flow, "mine");
    const renamedDrawing = readDrawing(named);
    const mine = renamedDrawing.flows.find((one) => one.name === "mine");
    expect(setFlowTool(named, renamedDrawing, mine ?? flow, "ping", new Set()).name).toBe("mine");
    const renamed = renameFlow(TEXT, drawing, flow, "big");
    expect(renamed).toContain("after: big}");
    expect(renamed).toContain("tcp: {of: big}");
    expect(renamed).toContain("flows: {big: }");
    expect(() => addFlow(TEXT, drawing, "h1", "h1")).toThrow("cannot send to itself");
    expect(() => addFlow(TEXT, drawing, "h1", "s1")).toThrow("s1 is a switch");
  });

  it("makes the first flow a block", () => {
    const text = newStudyText("x");
    expect(addFlow(text, readDrawing(text), "h1", "h2").text).toBe(`${text}\nflows:\n  bulk: {iperf3: h1 -> h2, time: 10s}\n`);
  });
});

describe("the rest", () => {
  it("moves", () => {
    let text = move(TEXT, { h1: { x: 1, y: 2 }, s1: { x: 3.4, y: -4 } });
    expect(text).toBe(`${TEXT}\nlayout:\n  h1: [1, 2]\n  s1: [3, -4]\n`);
    text = move(text, { s1: { x: 5, y: 6 }, h2: { x: 7, y: 8 } });
    expect(text).toBe(`${TEXT}\nlayout:\n  h1: [1, 2]\n  s1: [5, 6]\n  h2: [7, 8]\n`);
  });

  it("sets a field of the network, and removes it", () => {
    const set = setNetworkField(TEXT, ["network"], "frames", "yes");
    expect(readDrawing(set).networkFields["frames"]).toBe("yes");
    expect(setNetworkField(set, ["network"], "frames", null)).toBe(TEXT);
  });

  it("sets title, kernel and seed", () => {
    expect(setStudyField(TEXT, "title", "Other")).toBe(TEXT.replace("Router buffers", "Other"));
    expect(setStudyField(TEXT, "kernel", "6.12")).toBe(TEXT.replace('"6.1"', '"6.12"'));
    expect(setStudyField(TEXT, "seed", "7")).toContain('kernel: "6.1"\nseed: 7\n');
  });

  it("rejects removing what others refer to", () => {
    const inCase = readDrawing(TEXT, "other").setup.find((line) => line.path[0] === "cases");
    if (inCase === undefined) throw new Error("no line");
    expect(() => removeSetupLine(TEXT, inCase, "root")).toThrow("*there");
  });

  it("copies what is shared before it changes it for one case", () => {
    const text = "cases:\n  a:\n    setup: &x\n      - h1: one\n  b:\n    setup: *x\n";
    const line = readDrawing(text, "b").setup[0];
    if (line === undefined) throw new Error("no line");
    expect(setSetupLine(text, line, "h1", "two")).toBe("cases:\n  a:\n    setup: &x\n      - h1: one\n  b:\n    setup: [{h1: two}]\n");
  });
});
