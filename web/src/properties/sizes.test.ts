import { describe, expect, it } from "vitest";
import { bytesOf, largestOf, sizeText, withLargest } from "./sizes";

describe("sizes", () => {
  it("reads bytes and units of 1024", () => {
    expect(["52428800", "50MB", "50 m", "50MiB", "16KB"].map(bytesOf)).toEqual([52428800, 52428800, 52428800, 52428800, 16384]);
    expect(["", "x", "-1", "0", "9GB", "1 2"].map(bytesOf)).toEqual([null, null, null, null, null, null]);
  });
  it("keeps the two other sizes", () => {
    expect(withLargest("1 2 3", 9)).toBe("1 2 9");
    expect(withLargest("", 9)).toBe("10240 87380 9");
    expect(largestOf("1 2 3")).toBe("3");
    expect(sizeText(52428800)).toBe("50 MB");
  });
});
