import { describe, expect, it } from "vitest";

import type { JobCase, JobInfo } from "../api/types";
import { doneShare, jobName, jobOf } from "./store";

function job(id: string, change: Partial<JobInfo> = {}): JobInfo {
  const nothing = { claims: [], published: null, measured: null, problem: null, report: null, folder: "" };
  return { id, name: "net", lab: null, state: "running", waits: null, cases: [], ...nothing, ...change };
}

function one(change: Partial<JobCase>): JobCase {
  return { name: "a", title: "", state: "waiting", virtual_s: 0, expected_s: 10, seeds: 1, seeds_done: 0, runs: [], ...change };
}

describe("jobOf", () => {
  const jobs = { "1": job("1"), "2": job("2", { name: "other" }), "3": job("3"), "4": job("4", { lab: "lab08", name: "lab08" }) };

  it("is the last of the document's", () => {
    expect(jobOf(jobs, { name: "net.yaml", lab: null })?.id).toBe("3");
    expect(jobOf(jobs, { name: "whatever", lab: "lab08" })?.id).toBe("4");
    expect(jobOf(jobs, { name: "new", lab: null })).toBeNull();
  });
});

describe("doneShare", () => {
  it("is weighted by virtual time over cases and seeds", () => {
    expect(doneShare(job("1"))).toBe(0);
    const cases = [one({ state: "done" }), one({ state: "running", virtual_s: 5 }), one({ seeds: 2 })];
    expect(doneShare(job("1", { cases }))).toBeCloseTo(15 / 40);
  });

  it("is 1 when all is over, failed or not", () => {
    expect(doneShare(job("1", { cases: [one({ state: "known" }), one({ state: "failed" })] }))).toBe(1);
  });
});

it("names a job after its file, in characters allowed for a folder", () => {
  expect(jobName("net.yaml")).toBe("net");
  expect(jobName("my net (2).mn")).toBe("my-net-2-");
  expect(jobName("../..")).toBe("study");
  expect(jobName("")).toBe("study");
});
