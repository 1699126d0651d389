/** Groups things by a key, in order of first appearance. */
export function grouped<T, K>(all: readonly T[], key: (one: T) => K): [K, T[]][] {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(key(one));
    if (group) group.push(one);
    else groups.set(key(one), [one]);
  }
  return [...groups];
}
