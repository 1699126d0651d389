/** Light and dark, and the colors and dashes that distinguish variants. */

import { isPrinting, onPrint } from "./print";

export type Theme = "light" | "dark";
export type ThemeChoice = "auto" | Theme;

/**
 * Colors of variants: the base is neutral, the others in order of the plan. Each has at least 3:1
 * against the page's background (WCAG 2.2, 1.4.11), and every pair stays apart under simulated
 * protanopia and deuteranopia (test/theme.test.ts holds both).
 */
export const PALETTE: Record<Theme, { background: string; base: string; variants: string[] }> = {
  light: {
    background: "#ffffff",
    base: "#4a525c",
    variants: ["#163bda", "#c07003", "#069258", "#5b2979", "#605201", "#d5559c", "#731b25"],
  },
  dark: {
    background: "#14171a",
    base: "#c4cbd3",
    variants: ["#839bfc", "#f79f09", "#30aa6d", "#8a52fc", "#dce096", "#dd55b2", "#e13218"],
  },
};

/** Dashes for variants after all colors have been used once, twice, three times. */
export const DASHES: number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

/** What a variant's lines look like. */
export interface Look {
  color: string;
  /** Lengths of dash and gap in pixels; empty for a solid line. */
  dash: number[];
}

/** The look of variant `index` where `base` is the index of the base. */
export function look(index: number, base: number, theme: Theme): Look {
  const colors = PALETTE[theme];
  if (index === base) return { color: colors.base, dash: [] };
  const position = index > base ? index - 1 : index;
  const round = Math.floor(position / colors.variants.length);
  return {
    color: colors.variants[position % colors.variants.length] ?? colors.base,
    dash: DASHES[round % DASHES.length] ?? [],
  };
}

/** `#rrggbb` with an opacity from 0 to 1. */
export function faded(color: string, opacity: number): string {
  const alpha = Math.round(Math.min(1, Math.max(0, opacity)) * 255);
  return color + alpha.toString(16).padStart(2, "0");
}

/** The theme in force for a choice, given what the system prefers. */
export function resolve(choice: ThemeChoice, systemIsDark: boolean): Theme {
  if (choice !== "auto") return choice;
  return systemIsDark ? "dark" : "light";
}

const listeners = new Set<() => void>();
let choice: ThemeChoice = "auto";

const system =
  typeof window === "undefined" ? null : window.matchMedia("(prefers-color-scheme: dark)");

/** The theme in force. Paper is always light. */
export function theme(): Theme {
  return isPrinting() ? "light" : resolve(choice, system?.matches ?? false);
}

/** What the reader chose. */
export function themeChoice(): ThemeChoice {
  return choice;
}

/** Calls `listener` whenever the theme in force may have changed; returns how to stop that. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function announce(): void {
  const root = document.documentElement;
  const palette = PALETTE[theme()];
  root.dataset.theme = theme();
  root.style.setProperty("--v-base", palette.base);
  for (const [index, color] of palette.variants.entries()) {
    root.style.setProperty(`--v-${index + 1}`, color);
  }
  for (const listener of listeners) listener();
}

/** Sets the reader's choice and keeps it where the browser lets a page from disk keep anything. */
export function chooseTheme(next: ThemeChoice): void {
  choice = next;
  try {
    window.localStorage.setItem("steelyard-theme", next);
  } catch {
    // Not kept; the choice holds for this visit.
  }
  announce();
}

/** Starts with the kept choice and follows the system and the printer. */
export function startTheme(): void {
  try {
    const kept = window.localStorage.getItem("steelyard-theme");
    if (kept === "light" || kept === "dark") choice = kept;
  } catch {
    // Nothing kept.
  }
  announce();
  system?.addEventListener("change", announce);
  onPrint(announce);
}
