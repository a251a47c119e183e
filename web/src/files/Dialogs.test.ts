import { describe, expect, it } from "vitest";
import { nameProblem } from "./Dialogs";

describe("names of files", () => {
  it.each(["a.yaml", "labs/mine/study.yml", "x.mn", "y.py"])("takes %s", (name) => {
    expect(nameProblem(name)).toBeNull();
  });
  it.each(["", "a", "a.txt", "/etc/a.yaml", "../a.yaml", "a//b.yaml", "a?.yaml", "C:a.yaml"])("refuses %s", (name) => {
    expect(nameProblem(name)).not.toBeNull();
  });
});
