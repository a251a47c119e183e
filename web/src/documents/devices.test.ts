import { describe, expect, it } from "vitest";
import { deviceName, deviceStem } from "./devices";
import { readDrawing } from "./drawing";
import { renameNode } from "./edits/rename";

describe("names of interfaces", () => {
  it("are those of short node names", () => {
    expect(deviceStem("h1")).toBe("h1");
    expect(deviceStem("tenletters")).toBe("tenletters");
    expect(deviceName("tenletters", 9)).toBe("tenletters-eth9");
  });

  // The same values as in tests/model/network/test_devices.py.
  it("are abbreviated as the engine does", () => {
    expect(deviceStem("frankfurt-core")).toBe("fra_0wp0g");
    expect(deviceStem("h2345678901")).toBe("h23_b71ov");
    expect(deviceName("tenletters", 10)).toBe("ten_19unn-eth10");
  });

  it("follow a rename to a long name and back", () => {
    const text = "network:\n  hosts: {h1: , h2: }\n  links: [[h1, h2]]\nsetup:\n  - h1: tc qdisc add dev h1-eth0 root netem\n";
    const long = renameNode(text, readDrawing(text), "h1", "frankfurt-core");
    expect(readDrawing(long).links[0]?.interfaces).toEqual([`${deviceStem("frankfurt-core")}-eth0`, "h2-eth0"]);
    expect(long).toContain(`- frankfurt-core: tc qdisc add dev ${deviceStem("frankfurt-core")}-eth0 root netem`);
    expect(renameNode(long, readDrawing(long), "frankfurt-core", "h1")).toBe(text);
  });
});
