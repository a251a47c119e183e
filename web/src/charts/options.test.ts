import { expect, it } from "vitest";

import { logTicks, roomyLog } from "./options";

it("has round ticks on a logarithmic axis, in the axis' unit", () => {
  const megabyte = 1024 ** 2;
  expect(logTicks(0.4 * megabyte, 25 * megabyte, megabyte).map((tick) => tick / megabyte)).toEqual([0.5, 1, 2, 5, 10, 20]);
  expect(logTicks(3e3, 2e9, 1e6).map((tick) => tick / 1e6)).toEqual([0.01, 0.1, 1, 10, 100, 1000]);
});

it("has no 0 on a logarithmic axis", () => {
  expect(roomyLog(0, 1e6)[0]).toBeGreaterThan(0);
  expect(roomyLog(null, null)[0]).toBeGreaterThan(0);
});
