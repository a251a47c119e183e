/** Jobs: cases of a study that the server runs, each in its own machine. */

import { create } from "zustand";

import { deleteJson, postJson, socketUrl } from "../api/client";
import type { JobEvent, JobInfo, JobRequest } from "../api/types";
import { Connection } from "../live/connection";

interface JobsState {
  jobs: Record<string, JobInfo>;
  /** Subscribes to the server's jobs; further calls do nothing. */
  listen: () => void;
  /** @throws ApiError if the study or the request is invalid. */
  start: (request: JobRequest) => Promise<JobInfo>;
  /** @throws ApiError if the server does not respond. */
  cancel: (id: string) => Promise<void>;
}

let connection: Connection | null = null;

export const useJobs = create<JobsState>()((set) => ({
  jobs: {},

  listen: () => {
    connection ??= new Connection(socketUrl("/ws/jobs"), {
      onText: (text) => {
        const { job } = JSON.parse(text) as JobEvent;
        set(({ jobs }) => ({ jobs: { ...jobs, [job.id]: job } }));
      },
    });
  },

  start: async (request) => {
    const job = await postJson<JobInfo>("/api/jobs", request);
    // The socket may have sent a newer state already.
    set(({ jobs }) => ({ jobs: { ...jobs, [job.id]: jobs[job.id] ?? job } }));
    return job;
  },

  cancel: async (id) => {
    await deleteJson(`/api/jobs/${encodeURIComponent(id)}`);
  },
}));

/** The job of a document that was started last; null where there is none. */
export function jobOf(jobs: Readonly<Record<string, JobInfo>>, document: { name: string; lab: string | null }): JobInfo | null {
  const its = Object.values(jobs).filter((job) =>
    document.lab === null ? job.lab === null && job.name === jobName(document.name) : job.lab === document.lab,
  );
  return its[its.length - 1] ?? null;
}

/** The name of a document's job: its file's name without the suffix. */
export function jobName(name: string): string {
  const bare = name.replace(/\.(ya?ml|mn|py)$/i, "").replaceAll(/[^\w.-]+/g, "-");
  return bare.replace(/^[-.]+/, "") || "study";
}

/** The progress of a job, 0 to 1, by virtual time. */
export function doneShare(job: JobInfo): number {
  let done = 0;
  let all = 0;
  for (const one of job.cases) {
    const whole = Math.max(1e-9, one.expected_s) * Math.max(1, one.seeds);
    const isOver = one.state === "done" || one.state === "known" || one.state === "failed";
    const seeds = one.seeds_done * Math.max(1e-9, one.expected_s);
    all += whole;
    done += isOver ? whole : Math.min(whole, Math.max(one.virtual_s, seeds));
  }
  return all === 0 ? 0 : done / all;
}

const WORDS: Record<JobInfo["state"], string> = { running: "Running", done: "Done", failed: "Failed", cancelled: "Cancelled" };

/** The state of a job as text. After the last case, its report is written, which takes a while. */
export function jobStatus(job: JobInfo): string {
  if (job.waits !== null) return job.waits;
  const isWriting = job.state === "running" && job.cases.every(({ state }) => state === "done" || state === "known");
  return isWriting ? "Writing the report" : WORDS[job.state];
}
