import { describe, expect, it } from "vitest";

import { readDrawing } from "../documents/drawing";
import type { Schema } from "./completion";
import { optionsAt } from "./completion";
import { placeAt } from "./position";

const TEXT = `title: t
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links:
    - [h1, s1, {rate: 1gbit, |}]
    - [s1, h2]
setup:
  - h1: true
flows:
  bulk:
    iperf3: h1 -> h2
    time: 2s
`;

/** The place of the bar, which is not part of the text. */
function at(text: string) {
  const offset = text.indexOf("|");
  const place = placeAt(text.replace("|", ""), offset);
  if (place === null) throw new Error("no place");
  return place;
}

describe("the place in a text", () => {
  it.each([
    [TEXT, ["network", "links", 0, 2], true],
    ["a: 1\nnet|", [], true],
    ["network:\n  ho|", ["network"], true],
    ["network:\n  hosts: {h1: {for|", ["network", "hosts", "h1"], true],
    ["network:\n  links: [[h1, s1, {ra|", ["network", "links", 0, 2], true],
    ["network:\n  links: [[a, b], [h1, |", ["network", "links", 1, 1], false],
    ["flows:\n  bulk: {iperf3: h1 -> |", ["flows", "bulk", "iperf3"], false],
    ["flows:\n  bulk:\n    iperf3: h1 -> h2\n    con|", ["flows", "bulk"], true],
    ["flows:\n  bulk:\n    congestion: b|", ["flows", "bulk", "congestion"], false],
    ["setup:\n  - h1: x\n  - |", ["setup", 1], true],
    ["setup:\n- h1: x\n- h|", ["setup", 1], true],
    ["network:\n  links: [\n    [h1, s1],\n    [h2, s|", ["network", "links", 1, 1], false],
    ["a: {b: 1}  # x\nfl|", [], true],
  ])("is found in %j", (text, path, isKey) => {
    expect(at(text)).toMatchObject({ path, isKey });
  });
  it("is none in a comment", () => expect(placeAt("a: 1 # fl", 9)).toBeNull());
});

describe("completions", () => {
  const schema: Schema = {
    $defs: { link: { properties: { rate: { title: "Rate", description: "the rate" }, delay: { description: "how long" } } } },
    properties: {
      network: { properties: { links: { items: { prefixItems: [{}, {}, { $ref: "#/$defs/link" }] } } } },
      flows: { additionalProperties: { properties: { congestion: { anyOf: [{ enum: ["cubic", "bbr"] }] } } } },
    },
  };
  const labels = (text: string) => optionsAt(schema, at(text), readDrawing(text.replace("|", ""))).map(({ label }) => label);
  it("offers the missing keys, with their descriptions", () => {
    const [only, ...more] = optionsAt(schema, at(TEXT), readDrawing(TEXT.replace("|", "")));
    expect(only).toMatchObject({ label: "delay", info: "how long" });
    expect(more).toEqual([]);
  });
  it("offers values, and names of nodes", () => {
    expect(labels("flows: {bulk: {congestion: |")).toEqual(["cubic", "bbr"]);
    expect(labels(TEXT.replace("|", "").replace("[s1, h2]", "[s1, |]"))).toEqual(["h1", "h2", "s1"]);
    expect(labels(TEXT.replace("|", "").replace("h1 -> h2", "h1 -> |"))).toEqual(["h1", "h2"]);
    expect(labels(`${TEXT.replace("|", "")}probes: {q: {of: |`)).toContain("bulk");
  });
});
