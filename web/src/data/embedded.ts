/**
 * Extracts the data from the page's own text. Most of a large report is figures per second, and a
 * reader opens only a few steps: they stay text until they are needed, trial by trial.
 */

import type { PageTrial } from "#page";

/** The figures of a trial, by the key of their series. */
export type SeriesByKey = PageTrial["series"];

const TAG = '<script type="application/json" id="steelyard-data">';

/**
 * The data's text, null where there is none. Their script stands in a noscript element, whose
 * content is plain text to a browser that runs scripts. Chromium reads such text faster than that
 * of a script: 75 MB in 500 ms less.
 */
export function embeddedText(holder: Element | null): string | null {
  const text = holder?.textContent ?? "";
  const start = text.indexOf(TAG);
  return start < 0 ? null : text.slice(start + TAG.length, text.lastIndexOf("</script>"));
}

/** The data as in the text, except that trials may have a mark instead of their series. */
export interface Embedded {
  raw: unknown;
  /** The figures for a trial with `mark`. Throws if they are not valid JSON. */
  series: (mark: unknown) => SeriesByKey;
}

/** Reads the text, deferring series that can be located. Throws if it is not JSON. */
export function parseEmbedded(text: string): Embedded {
  return (
    withoutSeries(text) ?? {
      raw: JSON.parse(text),
      series: (series) => (series ?? {}) as SeriesByKey,
    }
  );
}

/** After the comma a quote can only begin a key, so this is found in no string. */
const SERIES = ',"series":';

/** A number in the place of every trial's series; null where the text is not as expected. */
function withoutSeries(text: string): Embedded | null {
  const places: [from: number, to: number][] = [];
  const kept: string[] = [];
  let from = 0;
  for (let at = text.indexOf(`${SERIES}{`); at >= 0; at = text.indexOf(`${SERIES}{`, from)) {
    const start = at + SERIES.length;
    // Series are lists of numbers. A key with a brace in it would leave behind what is not JSON.
    const end = text.indexOf("}", start) + 1;
    if (end === 0) return null;
    kept.push(text.slice(from, start), String(places.length));
    places.push([start, end]);
    from = end;
  }
  if (places.length === 0) return null;
  kept.push(text.slice(from));
  let raw: unknown;
  try {
    raw = JSON.parse(kept.join(""));
  } catch {
    // The reader shall be told the place in the whole text.
    return null;
  }
  if (countMarks(raw) !== places.length) return null;
  return {
    raw,
    series: (mark) => {
      const place = typeof mark === "number" ? places[mark] : undefined;
      return place
        ? (JSON.parse(text.slice(...place)) as SeriesByKey)
        : ((mark ?? {}) as SeriesByKey);
    },
  };
}

/** Trials whose series was taken out; other marks are in data that is never read later. */
function countMarks(raw: unknown): number {
  const steps = (raw as { steps?: { trials?: { series?: unknown }[] }[] } | null)?.steps;
  if (!Array.isArray(steps)) return 0;
  return steps.reduce(
    (sum, step) =>
      sum +
      (Array.isArray(step?.trials)
        ? step.trials.filter((trial) => typeof trial?.series === "number").length
        : 0),
    0,
  );
}

/** Makes `read()` the value of a property when it is first accessed. */
export function whenAsked<T extends object, K extends keyof T>(
  object: T,
  key: K,
  read: () => T[K],
): T {
  return Object.defineProperty(object, key, {
    enumerable: true,
    configurable: true,
    get(): T[K] {
      const value = read();
      Object.defineProperty(object, key, {
        enumerable: true,
        configurable: true,
        writable: true,
        value,
      });
      return value;
    },
  });
}
