/** Numbers and times as text: a true minus sign, no more digits than are significant. */

/** Shown where there is no figure. */
export const NOTHING = "–";

const SUFFIXES: [number, string][] = [
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

function trimmed(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function signed(text: string): string {
  return text.replace(/^-/, "−");
}

/** Significant digits with k, M or G: 27000 becomes 27.0k. For figures under each other. */
export function figures(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  for (const [unit, suffix] of SUFFIXES) {
    // 999.5 would round up to 1000 and read better in the next unit.
    if (size >= unit * (1 - 0.5 * 10 ** -digits))
      return signed((value / unit).toPrecision(digits)) + suffix;
  }
  if (size === 0) return "0";
  if (size < 0.001) return signed(value.toExponential(1));
  return signed(value.toPrecision(digits));
}

/** The same without trailing zeros: 27k. For axes and running text. */
export function short(value: number | null | undefined, digits = 3): string {
  return figures(value, digits)
    .replace(/^(.*\.\d*?)0+(?=[kMG]?$)/, "$1")
    .replace(/\.(?=[kMG]?$)/, "");
}

/** A whole number with narrow no-break spaces between thousands. */
export function grouped(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  return signed(Math.round(value).toString()).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * A figure with its unit: "/s" and "%" follow directly, words after a space; KB and MB climb to the
 * unit that reads best. Their steps are 1024, as the kernel and the DBMS count them.
 */
export function withUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const bytes = inBytes(value, unit);
  if (bytes) return `${figures(bytes.value)}\u00a0${bytes.unit}${bytes.rest}`;
  if (unit === "us" || unit === "µs") return duration(value);
  if (unit === "" || unit === "%" || unit.startsWith("/")) return figures(value) + unit;
  if (unit === "1/s") return `${figures(value)}/s`;
  // "1.07k ms" would carry two prefixes.
  if (unit.startsWith("ms") && Math.abs(value) >= 999.5) return `${grouped(value)}\u00a0${unit}`;
  return `${figures(value)}\u00a0${unit}`;
}

const LADDER = ["KB", "MB", "GB", "TB"];

/** An amount in KB, MB or GB in the unit that reads best; null for other units. */
function inBytes(
  value: number,
  unit: string,
): { value: number; unit: string; rest: string } | null {
  const match = /^(KB|MB|GB)(\/s)?$/.exec(unit);
  if (!match) return null;
  let rung = LADDER.indexOf(match[1] ?? "KB");
  let scaled = value;
  while (Math.abs(scaled) >= 1023.5 && rung < LADDER.length - 1) {
    scaled /= 1024;
    rung += 1;
  }
  return { value: scaled, unit: LADDER[rung] ?? "", rest: match[2] ?? "" };
}

/** As many digits as tell ticks apart, at most. */
const MOST_DIGITS = 8;

/**
 * The ticks of an axis: amounts and times say their unit, the others leave it to the heading. Those
 * that are close together have more digits.
 */
export function axisValues(ticks: number[], unit: string): string[] {
  const text = (value: number, digits: number): string => {
    if (value === 0) return "0";
    if (unit === "us") return axisDuration(value, digits);
    const bytes = inBytes(value, unit);
    return bytes ? `${short(bytes.value, digits)}\u00a0${bytes.unit}` : short(value, digits);
  };
  let [digits, texts]: [number, string[]] = [3, []];
  do {
    texts = ticks.map((value) => text(value, digits));
    digits += 1;
  } while (new Set(texts).size < ticks.length && digits <= MOST_DIGITS);
  return texts;
}

/** The unit as shown in a heading, next to an axis of `axisValue`. */
export function headingUnit(unit: string): string {
  if (unit === "us") return "per second, maximum";
  if (/^[KMG]B$/.test(unit)) return "";
  if (/^[KMG]B\/s$/.test(unit)) return "per second";
  return unit === "1/s" ? "/s" : unit;
}

/** Microseconds in the unit that reads best. */
export function duration(us: number | null | undefined): string {
  if (us === null || us === undefined || !Number.isFinite(us)) return NOTHING;
  const [divisor, unit] = durationUnit(us);
  return `${figures(us / divisor)}\u00a0${unit}`;
}

/** A duration for an axis, without trailing zeros. */
export function axisDuration(us: number, digits = 3): string {
  const [divisor, unit] = durationUnit(us);
  return us === 0 ? "0" : `${short(us / divisor, digits)}\u00a0${unit}`;
}

/** The unit for times around `us` microseconds: how many of them it holds, and its name. */
export function durationUnit(us: number): [number, string] {
  if (us >= 999_500) return [1e6, "s"];
  if (us >= 999.5) return [1e3, "ms"];
  return [1, "µs"];
}

/** A relative value with three decimals. */
export function ratio(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? NOTHING
    : value.toFixed(3);
}

/** The ratio of a comparison; without an interval, as of few blocks, in parentheses. */
export function judgedRatio(of: { ratio: number | null; low: number | null }): string {
  return of.ratio !== null && of.low === null ? `(${ratio(of.ratio)})` : ratio(of.ratio);
}

/** A ratio as a change: 0.934 is −6.6%. */
export function change(value: number): string {
  const percent = (value - 1) * 100;
  const text =
    Math.abs(percent) >= 99.95 ? Math.abs(percent).toFixed(0) : Math.abs(percent).toFixed(1);
  if (Number(text) === 0) return "±0.0%";
  return `${percent < 0 ? "−" : "+"}${text}%`;
}

/** An interval of ratios. */
export function interval(low: number | null, high: number | null): string {
  return low === null || high === null ? NOTHING : `${ratio(low)} to ${ratio(high)}`;
}

/** A name for a percentile on an axis: 99.9 is "99.9", 100 is "max". */
export function percentileName(percentile: number): string {
  return percentile >= 100 ? "max" : trimmed(percentile.toFixed(4));
}

/** An RFC 3339 time as "2026-11-21 08:59 UTC"; as it came where it cannot be read. */
export function moment(text: string): string {
  const time = new Date(text);
  if (text === "" || Number.isNaN(time.getTime())) return text === "" ? NOTHING : text;
  return `${time.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** "1 block", "3 blocks"; the plural is the singular with an s unless it is given. */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${grouped(number)} ${number === 1 ? singular : plural}`;
}
