/** Which lines of a chart are hidden, as a legend changes it. */

/** A set with an item more, or less if it was in it. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

/** What is hidden when one item is to be seen alone; nothing if it was alone already. */
export function isolated<T>(hidden: ReadonlySet<T>, item: T, all: readonly T[]): ReadonlySet<T> {
  const others = all.filter((other) => other !== item);
  const isAlone = !hidden.has(item) && others.every((other) => hidden.has(other));
  return new Set(isAlone ? [] : others);
}
