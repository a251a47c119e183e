/**
 * When charts are drawn anew: after something has changed, and 20 times a second at the most.
 *
 * Where drawing takes long, it is done less often, so that the page keeps most
 * of its time for the person. What the browser itself does with the lines comes
 * after us: that shows in how late the next frame is.
 */

const LEAST_MS = 50;
const SHARE = 3;
const FRAME_MS = 17;

export class Ticker {
  private readonly draws = new Set<() => void>();
  private readonly firsts = new Set<() => void>();
  private seen = -1;
  private stale = true;
  private frame: number | null = null;
  private notBefore = 0;
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
      this.rest(this.drawnAt, now - this.drawnAt - FRAME_MS);
      this.drawnAt = null;
    }
    const revision = this.revision();
    if (now < this.notBefore || (!this.stale && revision === this.seen)) return;
    this.stale = false;
    this.seen = revision;
    const before = performance.now();
    for (const look of this.firsts) look();
    for (const draw of this.draws) draw();
    this.drawnAt = now;
    this.rest(now, performance.now() - before);
  }

  private rest(from: number, cost: number): void {
    this.notBefore = Math.max(this.notBefore, from + LEAST_MS, from + SHARE * cost);
  }
}
