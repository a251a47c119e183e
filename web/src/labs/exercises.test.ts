/** Input of exercises and its versions. */

import { describe, expect, it } from "vitest";

import type { Exercises } from "../api/types";
import { answerOf, versionOf, withInput, withVersion } from "./exercises";

const EXERCISES: Exercises = {
  lab: "lab",
  student: "alice",
  seed: 1,
  folder: "lab",
  deadline: null,
  points: 2,
  hidden_points: 0,
  exercises: [],
  digests: {},
  check: null,
  counts: {},
  parts: [
    { name: "path", kind: "setup", files: [{ file: "path.yaml", text: "", size_bytes: 0, problem: "", is_canvas: false, version: "p1" }], answers: [] },
    { name: "trace", kind: "iperf3", files: [{ file: "t.json", text: null, size_bytes: null, problem: "", is_canvas: false, version: null }], answers: [] },
    {
      name: "answers",
      kind: "answers",
      files: [{ file: "answers.yaml", text: null, size_bytes: 9, problem: "", is_canvas: false, version: "f1" }],
      answers: [
        { name: "bdp", text: "1 MB", version: "a1" },
        { name: "rtt", text: "", version: null },
      ],
    },
  ],
};

describe("input of exercises", () => {
  it("has a version for each file and each answer", () => {
    expect(versionOf(EXERCISES, "part", "path.yaml")).toBe("p1");
    expect(versionOf(EXERCISES, "part", "t.json")).toBeNull();
    expect(versionOf(EXERCISES, "answer", "bdp")).toBe("a1");
    expect(versionOf(EXERCISES, "answer", "none")).toBeNull();
  });

  it("changes one of them", () => {
    const now = withInput(EXERCISES, { lab: "lab", kind: "answer", name: "bdp", text: "2 MB" }, "a2");
    expect(answerOf(now, "bdp")).toBe("2 MB");
    expect(versionOf(now, "answer", "bdp")).toBe("a2");
    expect(versionOf(now, "answer", "rtt")).toBeNull();
    expect(versionOf(now, "part", "answers.yaml")).toBe("f1");
  });

  it("keeps what was typed when it is saved", () => {
    const now = withVersion(withInput(EXERCISES, { lab: "lab", kind: "part", name: "path.yaml", text: "- h1: ls" }, "p1"), "part", "path.yaml", "p2");
    expect(now.parts[0]?.files[0]).toMatchObject({ text: "- h1: ls", size_bytes: 8, version: "p2" });
    expect(now.parts[1]).toEqual(EXERCISES.parts[1]);
  });

  it("does not show the text of an upload", () => {
    const now = withInput(EXERCISES, { lab: "lab", kind: "part", name: "t.json", text: "{}" }, "t1");
    expect(now.parts[1]?.files[0]).toMatchObject({ text: null, size_bytes: 2, version: "t1" });
  });
});
