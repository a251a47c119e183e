import { expect, it } from "vitest";

import type { Recording } from "../api/types";
import { keptText } from "./ClockBanners";

function recording(number: number, kept: string | null): Recording {
  return { number, case: null, start_s: 0, end_s: 1, flows: [], series: [], marks: [], levels: [], differences: [], kept, label: null };
}

it("counts only the runs that were saved as such", () => {
  expect(keptText({ recordings: [recording(0, null)] })).toBe("The drawing is unchanged.");
  expect(keptText({ recordings: [recording(0, null), recording(1, "runs/a"), recording(2, "runs/b")] })).toContain("2 runs are in Runs. ");
  expect(keptText({ recordings: [recording(1, "runs/a"), recording(2, "runs/b"), recording(3, null)] })).toContain("2 runs are in Runs; 1 run was not saved");
});
