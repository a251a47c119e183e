import { expect, it } from "vitest";

import { levelBox, logTicks, roomyLog } from "./options";

it("has round ticks on a logarithmic axis, in the axis' unit", () => {
  const megabyte = 1024 ** 2;
  expect(logTicks(0.4 * megabyte, 25 * megabyte, megabyte).map((tick) => tick / megabyte)).toEqual([0.5, 1, 2, 5, 10, 20]);
  expect(logTicks(3e3, 2e9, 1e6).map((tick) => tick / 1e6)).toEqual([0.01, 0.1, 1, 10, 100, 1000]);
});

it("has no 0 on a logarithmic axis", () => {
  expect(roomyLog(0, 1e6)[0]).toBeGreaterThan(0);
  expect(roomyLog(null, null)[0]).toBeGreaterThan(0);
});

it("puts a level's label where no curve is", () => {
  const size = { width: 40, height: 13 };
  const area = { left: 0, right: 200, top: 0, bottom: 100 };
  const flat = (y: number, from = 0, to = 200) => ({ from: { x: from, y }, to: { x: to, y } });
  // Above the line at the right, if nothing is there.
  expect(levelBox(size, area, 50, [flat(80)])).toMatchObject({ x: 156, y: 37 });
  // Else elsewhere above it, or below it.
  expect(levelBox(size, area, 50, [flat(45, 150, 200)])).toMatchObject({ x: 4, y: 37 });
  expect(levelBox(size, area, 50, [flat(45)])).toMatchObject({ x: 156, y: 51 });
  // There is no room above.
  expect(levelBox(size, area, 5, [])).toMatchObject({ y: 6 });
});
