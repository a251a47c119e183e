import { expect, it } from "vitest";

import { page } from "../documents/drafts";
import { emptyProgress, heard } from "./progress";

const DONE = { good: ["h1 0"], status: 0, done: true };

it("adds what another tab has done to what this one has", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE }, step_count: 2 } };
  const now = heard(labs, { event: "progress", page: "another", lab: "lab03", change: { steps: { two: DONE }, claims: { c: true } } });
  expect(now["lab03"]).toMatchObject({ steps: { one: DONE, two: DONE }, claims: { c: true }, step_count: 2 });
  expect(heard({}, { event: "progress", page: "another", lab: "lab04", change: { step_count: 3 } })["lab04"]?.step_count).toBe(3);
});

it("knows what it did itself, and more that it has done since", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE } } };
  expect(heard(labs, { event: "progress", page, lab: "lab03", change: { steps: { one: { ...DONE, done: false } } } })).toBe(labs);
});

it("forgets what another tab has begun anew, and what is gone after a loss", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE } } };
  expect(heard(labs, { event: "forgotten", page: "another", lab: "lab03" })["lab03"]?.steps).toEqual({});
  expect(heard(labs, { event: "hello", labs: {} })).toEqual({});
});

it("keeps what it has done where the state was on its way meanwhile", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), claims: { a: true, b: true }, changed_s: 20 } };
  const old = { ...emptyProgress("lab03"), claims: { a: true }, changed_s: 10 };
  expect(heard(labs, { event: "hello", labs: { lab03: old } })["lab03"]?.claims).toEqual({ a: true, b: true });
  const sent = [
    { lab: "lab03", change: { claims: { c: true } } },
    { lab: "lab04", change: { step_count: 2 } },
  ];
  const now = heard({}, { event: "hello", labs: { lab03: old } }, sent);
  expect(now["lab03"]?.claims).toEqual({ a: true, c: true });
  expect(now["lab04"]?.step_count).toBe(2);
});
