/** The time range that several charts share. */

export interface Range {
  from: number;
  to: number;
}

/** The smallest fraction of the whole that can be shown. */
const MIN_PART = 1e-4;

export class TimeAxis {
  private whole: Range = { from: Infinity, to: -Infinity };
  private shown: Range = this.whole;
  private readonly followers = new Set<() => void>();

  /** The visible range. */
  get now(): Range {
    return this.shown;
  }

  get isWhole(): boolean {
    return this.shown.from === this.whole.from && this.shown.to === this.whole.to;
  }

  /** Sets the whole range, and shows all of it. */
  include({ from, to }: Range): void {
    this.whole = { from: Math.min(this.whole.from, from), to: Math.max(this.whole.to, to) };
    this.shown = this.whole;
  }

  /** Calls `changed` after each change; returns a function that stops it. */
  follow(changed: () => void): () => void {
    this.followers.add(changed);
    return () => this.followers.delete(changed);
  }

  /** Shows a range, clipped to the whole. */
  show({ from, to }: Range): void {
    const length = this.whole.to - this.whole.from;
    const span = Math.min(length, Math.max(to - from, length * MIN_PART));
    const start = Math.min(Math.max(from, this.whole.from), this.whole.to - span);
    if (start === this.shown.from && start + span === this.shown.to) return;
    this.shown = span === length ? this.whole : { from: start, to: start + span };
    for (const changed of this.followers) changed();
  }

  /** Moves by a fraction of the visible range, and scales it by a factor. */
  change(move: number, factor: number): void {
    const { from, to } = this.shown;
    const middle = (from + to) / 2 + move * (to - from);
    const half = ((to - from) * factor) / 2;
    this.show({ from: middle - half, to: middle + half });
  }

  reset(): void {
    this.show(this.whole);
  }
}
