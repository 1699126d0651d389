/** What every part of the page needs: the data and how variants look right now. */

import { baseIndex, type Page } from "./data";
import { h, type Child } from "./dom";
import { look, theme, type Look } from "./theme";

export interface Context {
  page: Page;
  base: number;
}

/** The context of a page. */
export function contextOf(page: Page): Context {
  return { page, base: baseIndex(page) };
}

/** Whether nothing was run: all there is are instruction counts. */
export function onlyCounted(page: Page): boolean {
  return page.steps.length === 0 && (page.counts?.kinds.length ?? 0) > 0;
}

/** The look of a variant in the theme in force. */
export function lookOf(context: Context, variant: number): Look {
  return look(variant, context.base, theme());
}

/** A variant's name, or its number where the data names none. */
export function variantName(context: Context, variant: number): string {
  return context.page.variants[variant]?.name ?? `variant ${variant + 1}`;
}

/** A short piece of the variant's line. The style sheet colours it by `data-look`, so it follows the theme. */
export function swatch(context: Context, variant: number): HTMLElement {
  return h("span", { class: "swatch", "data-look": lookName(context, variant), "data-dash": lookOf(context, variant).dash.length > 0, "aria-hidden": "true" });
}

/** A variant's line and name side by side; a long name breaks beside the line, not under it. */
export function named(context: Context, variant: number, ...after: Child[]): HTMLElement {
  return h("span", { class: "row-label" }, swatch(context, variant), h("span", { class: "text" }, variantName(context, variant), after));
}

/** "base" or the number of the colour, as the style sheet knows it. */
export function lookName(context: Context, variant: number): string {
  if (variant === context.base) return "base";
  return String(((variant > context.base ? variant - 1 : variant) % 7) + 1);
}
