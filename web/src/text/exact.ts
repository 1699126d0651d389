/** Exact figures as text, as `steelyard count` prints them. */

import type { PageCount } from "#page";
import { grouped, NOTHING } from "./format";

/** Instructions or calls per statement: whole from 1000, otherwise one decimal, two below 10. */
export function work(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  if (size >= 999.95 || Number.isInteger(value)) return grouped(value);
  return value.toFixed(size >= 9.995 ? 1 : 2).replace(/^-/, "−");
}

/** The same with its sign; 0 where it would be printed as that. */
export function signedWork(value: number): string {
  const text = work(Math.abs(value));
  if (/^[0.]+$/.test(text)) return "0";
  return `${value < 0 ? "−" : "+"}${text}`;
}

/** A ratio of exact counts as a change: +7.28%. */
export function exactChange(ratio: number): string {
  const percent = Math.abs((ratio - 1) * 100).toFixed(2);
  if (percent === "0.00") return "0.00%";
  return `${ratio < 1 ? "−" : "+"}${percent}%`;
}

/** The uncertainty of the mean of several counts. */
export function repeatability(count: Pick<PageCount, "repeatability">): string {
  if (count.repeatability === null) return NOTHING;
  const percent = count.repeatability * 100;
  if (percent === 0) return "0%";
  if (percent >= 0.1) return `${percent.toFixed(2)}%`;
  return `${percent.toFixed(Math.min(12, -Math.floor(Math.log10(percent))))}%`;
}

/** A figure without thin spaces, for programs. */
export function plain(value: number): string {
  return work(value)
    .replace(/\u202f/g, "")
    .replace(/^−/, "-");
}
