/** Which lines of a chart are hidden, as a legend changes it. */

/** The set with the item added, or removed if it was in it. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const next = new Set(set);
  if (!next.delete(item)) next.add(item);
  return next;
}

/** The hidden items when only one is to be shown; none if it already was the only one. */
export function isolated<T>(hidden: ReadonlySet<T>, item: T, all: readonly T[]): ReadonlySet<T> {
  const others = all.filter((other) => other !== item);
  const isAlone = !hidden.has(item) && others.every((other) => hidden.has(other));
  return new Set(isAlone ? [] : others);
}
