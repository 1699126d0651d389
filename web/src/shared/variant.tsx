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

/** "base" or the number of the color in the style sheet. */
export function lookName(page: Page, variant: number): string {
  const base = baseIndex(page);
  if (variant === base) return "base";
  return String(((variant > base ? variant - 1 : variant) % 7) + 1);
}

/** A piece of the variant's line, colored by the style sheet so that it follows the theme. */
export function Swatch({ variant }: { variant: number }) {
  const page = usePage();
  const dashed = lookOf(page, variant).dash.length > 0;
  return (
    <span
      class="swatch"
      data-look={lookName(page, variant)}
      data-dash={dashed || undefined}
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
