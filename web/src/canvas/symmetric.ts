/**
 * Heights in a layered layout that preserve the symmetry of the graph.
 *
 * Each node is drawn to the mean of its neighbours in the next ranks, and a rank's nodes keep
 * their order and a distance. That is an isotonic regression, which the algorithm "pool adjacent
 * violators" solves exactly (Barlow et al., Statistical Inference under Order Restrictions,
 * 1972): a mirror image has a mirror image as its answer.
 */

const SWEEPS = 24;

/**
 * Returns heights by name; the whole is centred about 0.
 *
 * Parameters: `ranks`, the names of each rank from top to bottom; `gap`, the least distance of two.
 */
export function symmetricHeights(
  ranks: readonly (readonly string[])[],
  neighbours: ReadonlyMap<string, readonly string[]>,
  gap: number,
): Map<string, number> {
  const rankOf = new Map(ranks.flatMap((names, rank) => names.map((name) => [name, rank] as const)));
  const heights = new Map(ranks.flatMap((names) => names.map((name, index) => [name, (index - (names.length - 1) / 2) * gap] as const)));
  const place = (rank: number, beside: number) => {
    const names = ranks[rank] ?? [];
    const wanted = names.map((name) => {
      const near = (neighbours.get(name) ?? []).filter((other) => (rankOf.get(other) ?? NaN) - rank === beside);
      return near.length === 0 ? (heights.get(name) ?? 0) : mean(near.map((other) => heights.get(other) ?? 0));
    });
    spread(wanted, gap).forEach((height, index) => heights.set(names[index] ?? "", height));
  };
  const down = () => ranks.forEach((_, rank) => rank > 0 && place(rank, -1));
  const up = () => ranks.forEach((_, rank) => rank > 0 && place(ranks.length - 1 - rank, 1));
  // The side with more nodes is placed last: it has the leaves, and their neighbours are centred on them.
  const sizes = ranks.map((names) => names.length);
  const half = Math.floor(ranks.length / 2);
  const opensOut = total(sizes.slice(-half)) >= total(sizes.slice(0, half));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    if (opensOut) down();
    up();
    if (!opensOut) down();
  }
  const all = [...heights.values()];
  const middle = (Math.min(...all) + Math.max(...all)) / 2;
  return new Map([...heights].map(([name, height]) => [name, height - middle]));
}

/** The heights nearest to the wanted ones that keep the order and the gap. */
export function spread(wanted: readonly number[], gap: number): number[] {
  const pools: { sum: number; count: number }[] = [];
  wanted.forEach((height, index) => {
    let pool = { sum: height - index * gap, count: 1 };
    for (let last = pools.at(-1); last !== undefined && last.sum / last.count >= pool.sum / pool.count; last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  });
  return pools.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count)).map((height, index) => height + index * gap);
}

function mean(values: readonly number[]): number {
  return total(values) / values.length;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
