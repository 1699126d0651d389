/** Colors and fonts of the canvases; the colors come from the style sheet. */

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** The font of axes. */
export const AXIS_FONT = `11px ${FAMILY}`;

let cache: { theme: string | undefined; values: Map<string, string> } = {
  theme: undefined,
  values: new Map(),
};

/** The value of a style sheet color in the current theme, for example `ink("grid")`. */
export function ink(name: "grid" | "axis" | "text" | "minor" | "paper"): string {
  const theme = document.documentElement.dataset.theme;
  if (cache.theme !== theme) cache = { theme, values: new Map() };
  let value = cache.values.get(name);
  if (value === undefined) {
    value =
      getComputedStyle(document.documentElement).getPropertyValue(`--plot-${name}`).trim() ||
      "#888888";
    cache.values.set(name, value);
  }
  return value;
}
