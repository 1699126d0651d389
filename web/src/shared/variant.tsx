/** How variants are shown: a short piece of their line, and their name. */

import type { ComponentChildren } from "preact";
import type { Page } from "#page";
import { baseIndex, variantName } from "../data/page";
import { usePage } from "./page";
import { type Look, look, theme } from "./theme";

/** The look of a variant in the theme in force. */
export function lookOf(page: Page, variant: number): Look {
  return look(variant, baseIndex(page), theme());
}

/** Which variant's look the thing at this place of a list has, if things are not variants. */
export function lookAt(page: Page, place: number): number {
  const base = baseIndex(page);
  if (place === 0) return base;
  return place <= base ? place - 1 : place;
}

/** "base" or the number of the color in the style sheet. */
export function lookName(page: Page, variant: number): string {
  const base = baseIndex(page);
  if (variant === base) return "base";
  return String(((variant > base ? variant - 1 : variant) % 7) + 1);
}

/** A piece of the variant's line, colored by the style sheet so that it follows the theme. */
export function Swatch({ variant, dashed = false }: { variant: number; dashed?: boolean }) {
  const page = usePage();
  const dash = dashed || lookOf(page, variant).dash.length > 0;
  return (
    <span
      class="swatch"
      data-look={lookName(page, variant)}
      data-dash={dash || undefined}
      aria-hidden="true"
    />
  );
}

/** A variant's line and name in a sentence or a list. */
export function Marked({ variant }: { variant: number }) {
  return (
    <>
      <Swatch variant={variant} />
      {variantName(usePage(), variant)}
    </>
  );
}

/** A variant's line and name; a long name wraps next to the line, not under it. */
export function Named(props: { variant: number; name?: string; children?: ComponentChildren }) {
  const page = usePage();
  return (
    <span class="row-label">
      {page.variants[props.variant] && <Swatch variant={props.variant} />}
      <span class="text">
        {props.name ?? variantName(page, props.variant)}
        {props.children}
      </span>
    </span>
  );
}
