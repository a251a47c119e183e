/**
 * One series that grows while it is shown: times and values in typed arrays. A value
 * of NaN is a gap in the line.
 *
 * Arrays double when they are full, so that appending costs the same however
 * long the series is.
 */

export class AppendOnlySeries {
  private timesRoom = new Float64Array(256);
  private valuesRoom = new Float64Array(256);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** Valid until the next append. */
  get times(): Float64Array {
    return this.timesRoom.subarray(0, this.used);
  }

  /** Valid until the next append. */
  get values(): Float64Array {
    return this.valuesRoom.subarray(0, this.used);
  }

  append(times: Float64Array, values: Float64Array): void {
    const count = Math.min(times.length, values.length);
    this.makeRoom(this.used + count);
    this.timesRoom.set(times.subarray(0, count), this.used);
    this.valuesRoom.set(values.subarray(0, count), this.used);
    this.used += count;
  }

  clear(): void {
    this.used = 0;
  }

  /** How many samples are at `time` or before it. */
  countUntil(time: number): number {
    let low = 0;
    let high = this.used;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.timesRoom[middle] ?? 0) <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many samples are before `time`. */
  countBefore(time: number): number {
    let count = this.countUntil(time);
    while (count > 0 && this.timesRoom[count - 1] === time) count -= 1;
    return count;
  }

  /** The last value at `time` or before it; null before the first, and in a gap. */
  valueAt(time: number): number | null {
    const value = this.nth(this.countUntil(time) - 1);
    return Number.isNaN(value) ? null : value;
  }

  /** The last value that is a number: gaps may follow. */
  get last(): number | null {
    return this.lastUntil(Infinity);
  }

  /** The same of the samples from one time to another, both included; null if there is none. */
  lastUntil(to: number, from = -Infinity): number | null {
    const first = this.countBefore(from);
    let index = this.countUntil(to) - 1;
    while (index >= first && Number.isNaN(this.valuesRoom[index])) index -= 1;
    return index < first ? null : this.nth(index);
  }

  get lastTime(): number | null {
    return this.used === 0 ? null : (this.timesRoom[this.used - 1] ?? null);
  }

  private nth(index: number): number | null {
    return index < 0 ? null : (this.valuesRoom[index] ?? null);
  }

  private makeRoom(wanted: number): void {
    if (wanted <= this.timesRoom.length) return;
    const size = Math.max(wanted, this.timesRoom.length * 2);
    this.timesRoom = enlarged(this.timesRoom, size);
    this.valuesRoom = enlarged(this.valuesRoom, size);
  }
}

function enlarged(old: Float64Array, size: number): Float64Array<ArrayBuffer> {
  const room = new Float64Array(size);
  room.set(old);
  return room;
}
