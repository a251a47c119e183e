import { expect, it } from "vitest";

import { page } from "../documents/drafts";
import { emptyProgress, applyEvent } from "./progress";

const DONE = { good: ["h1 0"], status: 0, done: true };

it("merges changes of another tab", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE }, step_count: 2 } };
  const now = applyEvent(labs, { event: "progress", page: "another", lab: "lab03", change: { steps: { two: DONE }, claims: { c: true } } });
  expect(now["lab03"]).toMatchObject({ steps: { one: DONE, two: DONE }, claims: { c: true }, step_count: 2 });
  expect(applyEvent({}, { event: "progress", page: "another", lab: "lab04", change: { step_count: 3 } })["lab04"]?.step_count).toBe(3);
});

it("ignores its own changes that are reported back", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE } } };
  expect(applyEvent(labs, { event: "progress", page, lab: "lab03", change: { steps: { one: { ...DONE, done: false } } } })).toBe(labs);
});

it("drops what another tab has reset, and what is missing after a reconnection", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), steps: { one: DONE } } };
  expect(applyEvent(labs, { event: "forgotten", page: "another", lab: "lab03" })["lab03"]?.steps).toEqual({});
  expect(applyEvent(labs, { event: "hello", labs: {} })).toEqual({});
});

it("keeps its changes that are newer than a received state", () => {
  const labs = { lab03: { ...emptyProgress("lab03"), claims: { a: true, b: true }, changed_s: 20 } };
  const old = { ...emptyProgress("lab03"), claims: { a: true }, changed_s: 10 };
  expect(applyEvent(labs, { event: "hello", labs: { lab03: old } })["lab03"]?.claims).toEqual({ a: true, b: true });
  const sent = [
    { lab: "lab03", change: { claims: { c: true } } },
    { lab: "lab04", change: { step_count: 2 } },
  ];
  const now = applyEvent({}, { event: "hello", labs: { lab03: old } }, sent);
  expect(now["lab03"]?.claims).toEqual({ a: true, c: true });
  expect(now["lab04"]?.step_count).toBe(2);
});
