/** Words above a plot at a place of its x axis, in lanes so that neighbors do not overlap. */

import uPlot from "uplot";
import { AXIS_FONT, ink } from "./ink";

/** Height of a line of words above a plot, in CSS pixels. */
export const LANE = 15;

/** A piece of the words. */
export type Piece = [text: string, bold: boolean, color: string];

function font(bold: boolean): string {
  return `${bold ? "600 " : ""}${11 * uPlot.pxRatio}px ${AXIS_FONT.replace(/^\S+ /, "")}`;
}

/** Where words in a lane stand on the canvas. */
export function baseline(u: uPlot, lane: number): number {
  return u.bbox.top - (5 + lane * LANE) * uPlot.pxRatio;
}

/** Writes words centered above a position of the canvas, not beyond the plot's ends. */
export function writeAbove(u: uPlot, x: number, lane: number, pieces: Piece[]): void {
  const { ctx, bbox } = u;
  const pixel = uPlot.pxRatio;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const widths = pieces.map(([text, bold]) => {
    ctx.font = font(bold);
    return ctx.measureText(text).width;
  });
  const whole = widths.reduce((sum, width) => sum + width, 0);
  let left = Math.min(Math.max(bbox.left, x - whole / 2), bbox.left + bbox.width - whole);
  const y = baseline(u, lane);
  // Lines of words written higher up pass behind these.
  ctx.fillStyle = ink("paper");
  ctx.fillRect(left - 2 * pixel, y - 11 * pixel, whole + 4 * pixel, 14 * pixel);
  pieces.forEach(([text, bold, color], index) => {
    ctx.font = font(bold);
    ctx.fillStyle = color;
    ctx.fillText(text, left, y);
    left += widths[index] ?? 0;
  });
}
