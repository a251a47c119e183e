/**
 * Formatting of quantities: numbers in base units become `3.28 Gbit/s` or `20.4 ms`.
 *
 * Prefixes are as in the rest of longfat: decimal for rates, powers of 1024 for bytes.
 */

export type Unit = "bit/s" | "s" | "bytes" | "packets" | "%" | "1";

/** The common divisor and unit of a range of values. */
export interface Scale {
  divisor: number;
  unit: string;
}

const SCALES: Record<Unit, Scale[]> = {
  "bit/s": [
    { divisor: 1e12, unit: "Tbit/s" },
    { divisor: 1e9, unit: "Gbit/s" },
    { divisor: 1e6, unit: "Mbit/s" },
    { divisor: 1e3, unit: "kbit/s" },
    { divisor: 1, unit: "bit/s" },
  ],
  s: [
    { divisor: 1, unit: "s" },
    { divisor: 1e-3, unit: "ms" },
    { divisor: 1e-6, unit: "µs" },
    { divisor: 1e-9, unit: "ns" },
  ],
  bytes: [
    { divisor: 1024 ** 3, unit: "GB" },
    { divisor: 1024 ** 2, unit: "MB" },
    { divisor: 1024, unit: "KB" },
    { divisor: 1, unit: "B" },
  ],
  packets: [{ divisor: 1, unit: "packets" }],
  // A fraction: 1 is 100 %.
  "%": [{ divisor: 0.01, unit: "%" }],
  "1": [{ divisor: 1, unit: "" }],
};

/** The unit of the server's name for it; unknown ones have no unit. */
export function unitOf(word: string): Unit {
  return word in SCALES ? (word as Unit) : "1";
}

/** The scale in which a value has 1 to 999 before its point, if there is one. */
export function scaleFor(value: number, unit: Unit): Scale {
  const size = Math.abs(value);
  const scales = SCALES[unit];
  const fits = scales.find((scale) => size >= scale.divisor * 0.9995);
  if (fits !== undefined) return fits;
  const smallest = scales[scales.length - 1] ?? { divisor: 1, unit: "" };
  // 0 s is not shown as 0 ns: the resolution is not nanoseconds.
  if (size === 0) return unit === "s" ? { divisor: 1e-3, unit: "ms" } : smallest;
  return smallest;
}

/** A number with three significant digits, but with all digits before its point. */
export function formatNumber(value: number): string {
  const size = Math.abs(Number(value.toPrecision(3)));
  if (size === 0) return "0";
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  if (size >= 10) return value.toFixed(1);
  if (size >= 1) return value.toFixed(2);
  return String(Number(value.toPrecision(3)));
}

/** A value with its unit, such as `3.28 Gbit/s`. A missing value is a dash. */
export function formatQuantity(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const scale = scaleFor(value, unit);
  const whole = scale.divisor === 1 && (unit === "packets" || unit === "bytes");
  const number = whole ? Math.round(value).toLocaleString("en-US") : formatNumber(value / scale.divisor);
  return scale.unit === "" ? number : `${number} ${scale.unit}`;
}

/** The tick labels of an axis, in one scale and with the digits that their distance needs. */
export function formatTicks(ticks: readonly number[], scale: Scale): string[] {
  const first = ticks[0] ?? 0;
  const step = Math.abs((ticks[1] ?? first + scale.divisor) - first) / scale.divisor;
  const digits = step > 0 ? Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9), tenths(step))) : 0;
  return ticks.map((tick) => (tick / scale.divisor).toFixed(digits));
}

/** Virtual time to the millisecond: `12.345 s`, and with minutes from 100 s on. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, seconds);
  if (whole < 100) return `${whole.toFixed(3)} s`;
  // Rounded first: 119.9996 s are 2 min, not 1 min 60 s.
  const rounded = Math.round(whole * 1000) / 1000;
  const minutes = Math.floor(rounded / 60);
  return `${minutes} min ${(rounded - minutes * 60).toFixed(3).padStart(6, "0")} s`;
}

/** The speed of virtual time relative to wall time, in at most three digits: `3.2x`, `0.012x`, `<0.001x`. */
export function formatSpeed(factor: number): string {
  if (!Number.isFinite(factor) || factor <= 0) return "0x";
  if (factor < 0.0005) return "<0.001x";
  if (factor >= 999.5) return ">999x";
  if (factor >= 99.5) return `${Math.round(factor)}x`;
  return `${Number(factor < 0.1 ? factor.toFixed(3) : factor.toPrecision(2))}x`;
}

/** Steps between the ticks of an axis of bytes that ends at `most`, so that they are round in its unit. */
export function byteSteps(most: number): number[] {
  const { divisor } = scaleFor(most, "bytes");
  return [1e-3, 1e-2, 0.1, 1, 10, 100, 1000].flatMap((power) => [1, 2, 5].map((step) => step * power * divisor)).filter((step) => step >= 1);
}

/** 2.5 needs one more digit than its magnitude suggests, 2 does not. */
function tenths(step: number): number {
  for (let digits = 0; digits < 6; digits += 1) {
    const shifted = step * 10 ** digits;
    if (Math.abs(shifted - Math.round(shifted)) < 1e-6 * shifted) return digits;
  }
  return 6;
}
