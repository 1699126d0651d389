/** Which part of the y axis is in view. */

/** The y axis for values from `min` to `max`: from zero, or with a little air on both sides. */
export function yRange(
  min: number | null,
  max: number | null,
  target: number | null,
  fromZero: boolean,
): [number, number] {
  const top = Math.max(max ?? 0, target ?? -Infinity);
  const bottom = Math.min(min ?? 0, target ?? Infinity);
  if (fromZero || top <= bottom) return [Math.min(0, bottom), top > 0 ? top * 1.04 : 1];
  const air = (top - bottom) * 0.06;
  return [bottom >= 0 ? Math.max(0, bottom - air) : bottom - air, top + air];
}
