/**
 * Schedules redraws of charts: after a change, and at most 20 times a second.
 *
 * If drawing takes long, it is done less often, so that the page stays responsive.
 * The browser's own rendering happens afterwards: it shows in the delay of the next
 * frame. Expensive charts spread a round of drawing over several frames.
 */

const MIN_MS = 50;
const SHARE = 3;
const FRAME_MS = 17;
/** After this time in one frame, the other charts wait for the next. */
const BATCH_MS = 5;

export class Ticker {
  private readonly draws = new Set<() => void>();
  private readonly firsts = new Set<() => void>();
  private seen = -1;
  private stale = true;
  private frame: number | null = null;
  private notBefore = 0;
  /** Charts that are still to be drawn in this round, when it began, and what it has cost. */
  private waiting: (() => void)[] = [];
  private begun = 0;
  private cost = 0;
  /** When it was drawn last, until the next frame shows how long that took. */
  private drawnAt: number | null = null;

  constructor(private readonly revision: () => number) {}

  /** Calls `draw` in each round; returns a function that stops it. */
  subscribe(draw: () => void): () => void {
    this.draws.add(draw);
    this.invalidate();
    if (this.frame === null) this.next();
    return () => {
      this.draws.delete(draw);
      if (this.draws.size === 0 && this.frame !== null) {
        cancelAnimationFrame(this.frame);
        this.frame = null;
      }
    };
  }

  /** Calls `look` before each round; returns a function that stops it. */
  before(look: () => void): () => void {
    this.firsts.add(look);
    return () => this.firsts.delete(look);
  }

  /** Requests a redraw, though no series has grown. */
  invalidate(): void {
    this.stale = true;
    this.notBefore = 0;
  }

  private next(): void {
    this.frame = requestAnimationFrame((now) => {
      this.next();
      this.tick(now);
    });
  }

  private tick(now: number): void {
    if (this.drawnAt !== null) {
      this.pay(Math.max(0, now - this.drawnAt - FRAME_MS));
      this.drawnAt = null;
    }
    if (this.waiting.length === 0 && !this.begin(now)) return;
    const before = performance.now();
    do {
      const draw = this.waiting.shift();
      // It may have been removed since the round began.
      if (draw !== undefined && this.draws.has(draw)) draw();
    } while (this.waiting.length > 0 && performance.now() - before < BATCH_MS);
    this.drawnAt = now;
    this.pay(performance.now() - before);
  }

  /** Starts a new round, if it is due and something has changed. */
  private begin(now: number): boolean {
    const revision = this.revision();
    if (now < this.notBefore || (!this.stale && revision === this.seen)) return false;
    this.stale = false;
    this.seen = revision;
    this.begun = now;
    this.cost = 0;
    this.notBefore = now + MIN_MS;
    for (const look of this.firsts) look();
    this.waiting = [...this.draws];
    return this.waiting.length > 0;
  }

  private pay(cost: number): void {
    this.cost += cost;
    this.notBefore = Math.max(this.notBefore, this.begun + SHARE * this.cost);
  }
}
