import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Ticker } from "./ticker";

let frame: ((now: number) => void) | null = null;
let clock = 0;

beforeEach(() => {
  clock = 0;
  vi.stubGlobal("requestAnimationFrame", (call: (now: number) => void) => {
    frame = call;
    return 1;
  });
  vi.stubGlobal("cancelAnimationFrame", () => {
    frame = null;
  });
  vi.spyOn(performance, "now").mockImplementation(() => clock);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Let frames come at the usual distance; returns how often was drawn. */
function run(ticker: Ticker, frames: number, draw: () => void, eachFrame: () => void): number {
  let count = 0;
  const stop = ticker.subscribe(() => {
    count += 1;
    draw();
  });
  for (let number = 0; number < frames; number += 1) {
    clock += 16;
    eachFrame();
    frame?.(clock);
  }
  stop();
  return count;
}

it("draws once per change, and again on request", () => {
  const ticker = new Ticker(() => 1);
  expect(run(ticker, 60, () => undefined, () => undefined)).toBe(1);
  expect(run(ticker, 60, () => undefined, () => undefined)).toBe(1);
});

it("draws at most 20 times a second", () => {
  let revision = 0;
  const ticker = new Ticker(() => revision);
  const count = run(ticker, 63, () => undefined, () => (revision += 1));
  expect(count).toBeGreaterThanOrEqual(15);
  expect(count).toBeLessThanOrEqual(20);
});

it("takes at most a third of the time, however long drawing is", () => {
  let revision = 0;
  const ticker = new Ticker(() => revision);
  let spent = 0;
  run(ticker, 200, () => {
    clock += 60;
    spent += 60;
  }, () => (revision += 1));
  expect(spent / clock).toBeLessThan(0.4);
});

it("looks before it draws, and stops with the last chart", () => {
  const ticker = new Ticker(() => 1);
  const order: string[] = [];
  const stopLooking = ticker.before(() => order.push("look"));
  run(ticker, 3, () => order.push("draw"), () => undefined);
  expect(order).toEqual(["look", "draw"]);
  expect(frame).toBeNull();
  stopLooking();
});

it("spreads slow charts over several frames, and skips none", () => {
  const ticker = new Ticker(() => 1);
  const frames: number[] = [];
  let number = 0;
  const stops = [0, 1, 2, 3].map(() =>
    ticker.subscribe(() => {
      clock += 4;
      frames.push(number);
    }),
  );
  for (number = 0; number < 4; number += 1) frame?.((clock += 16));
  expect(frames).toEqual([0, 0, 1, 1]);
  stops.forEach((stop) => stop());
});

it("does not draw a chart that was removed in the middle of a round", () => {
  const ticker = new Ticker(() => 1);
  let drawn = 0;
  const stopFirst = ticker.subscribe(() => (clock += 9));
  const stopSecond = ticker.subscribe(() => (drawn += 1));
  frame?.((clock += 16));
  stopSecond();
  frame?.((clock += 16));
  expect(drawn).toBe(0);
  stopFirst();
});
