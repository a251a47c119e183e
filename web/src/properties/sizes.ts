/** Sizes of buffers: typed with or without a unit, stored as bytes, shown with a unit. */

const POWERS: Record<string, number> = { "": 0, k: 1, m: 2, g: 3 };

/** `50MB` and `52428800` alike as bytes; null if it is neither. */
export function bytesOf(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg]?)i?(?:b|bytes)?$/i.exec(text.trim());
  if (match === null) return null;
  const bytes = Math.round(Number(match[1]) * 1024 ** (POWERS[(match[2] ?? "").toLowerCase()] ?? 0));
  return bytes > 0 && bytes <= 2 ** 31 - 1 ? bytes : null;
}

export function sizeText(bytes: number): string {
  const [step, unit] = bytes >= 2 ** 20 ? [2 ** 20, "MB"] : bytes >= 2 ** 10 ? [2 ** 10, "KB"] : [1, "B"];
  return `${Number((bytes / step).toFixed(1))} ${unit}`;
}

/** The largest of the three sizes of tcp_rmem and tcp_wmem. */
export function largestOf(sizes: string): string {
  return sizes.trim().split(/\s+/)[2] ?? "";
}

/** Replaces the largest size; the other two are kept. */
export function withLargest(sizes: string, bytes: number): string {
  const [least, usual] = sizes.trim().split(/\s+/);
  return `${least || "10240"} ${usual || "87380"} ${bytes}`;
}
