/** Charts are drawn when they come near the viewport: a page may have dozens. */

export interface Drawn {
  /** The element that is observed. */
  root: HTMLElement;
  draw: () => void;
}

const NEAR = "400px 0px";

export function drawWhenNear(all: readonly Drawn[]): void {
  const draws = new Map<Element, () => void>(all.map(({ root, draw }) => [root, draw]));
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        watcher.unobserve(target);
        draws.get(target)?.();
      }
    },
    { rootMargin: NEAR },
  );
  for (const { root } of all) watcher.observe(root);
}
