/**
 * When charts are drawn anew: after something has changed, and 20 times a second at the most.
 *
 * Where drawing takes long, it is done less often, so that the page keeps most
 * of its time for the person. What the browser itself does with the lines comes
 * after us: that shows in how late the next frame is. Charts that take long
 * share a round of drawing out over several frames.
 */

const LEAST_MS = 50;
const SHARE = 3;
const FRAME_MS = 17;
/** After so long in one frame, the other charts wait for the next. */
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
  /** When it was drawn last, until the next frame tells what that took. */
  private drawnAt: number | null = null;

  constructor(private readonly revision: () => number) {}

  /** Call `draw` whenever it is time; the answer ends that. */
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

  /** Call `look` before each drawing; the answer ends that. */
  before(look: () => void): () => void {
    this.firsts.add(look);
    return () => this.firsts.delete(look);
  }

  /** Draw at the next chance, though no series has grown. */
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
      // It may have gone since the round began.
      if (draw !== undefined && this.draws.has(draw)) draw();
    } while (this.waiting.length > 0 && performance.now() - before < BATCH_MS);
    this.drawnAt = now;
    this.pay(performance.now() - before);
  }

  /** A new round, if it is time and something has changed. */
  private begin(now: number): boolean {
    const revision = this.revision();
    if (now < this.notBefore || (!this.stale && revision === this.seen)) return false;
    this.stale = false;
    this.seen = revision;
    this.begun = now;
    this.cost = 0;
    this.notBefore = now + LEAST_MS;
    for (const look of this.firsts) look();
    this.waiting = [...this.draws];
    return this.waiting.length > 0;
  }

  private pay(cost: number): void {
    this.cost += cost;
    this.notBefore = Math.max(this.notBefore, this.begun + SHARE * this.cost);
  }
}
