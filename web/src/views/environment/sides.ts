/** Build, configuration and settings of all variants side by side. */

import type { PageVariant } from "#page";

/** One line: a value per variant, null where a variant does not have it. */
export interface SideRow {
  group: string;
  name: string;
  values: (string | null)[];
  fallback?: string;
  differs: boolean;
}

/**
 * The settings that are not at their default in some variant or differ between variants; those
 * that differ come first.
 */
export function sideBySide(variants: PageVariant[]): SideRow[] {
  const row = (group: string, name: string, of: (one: PageVariant) => string | null): SideRow => {
    const values = variants.map(of);
    return { group, name, values, differs: new Set(values).size > 1 };
  };
  const pairs = (group: string, of: (one: PageVariant) => [string, string][]): SideRow[] => {
    const names = new Set(variants.flatMap((one) => of(one).map(([name]) => name)));
    const value = (name: string) => (one: PageVariant) =>
      of(one).find(([other]) => other === name)?.[1] ?? null;
    return [...names].map((name) => row(group, name, value(name)));
  };
  const all = variants.flatMap(({ settings }) => settings);
  const settings = pairs("Settings", (one) =>
    one.settings.map(({ name, value }) => [name, value]),
  ).flatMap((one) => {
    const found = all.filter(({ name }) => name === one.name);
    const changed = found.some((setting) => setting.value !== setting.default);
    const fallback = [...new Set(found.map((setting) => setting.default))].join(" / ");
    return changed || one.differs ? [{ ...one, fallback }] : [];
  });
  settings.sort((a, b) => Number(b.differs) - Number(a.differs) || a.name.localeCompare(b.name));
  return [
    row("Identity", "dbms", ({ dbms }) => dbms),
    row("Identity", "source", ({ source }) => source),
    row("Identity", "version", ({ version }) => version),
    ...pairs("Build", ({ build }) => build),
    ...pairs("Configuration of the plan", ({ config }) => config),
    ...settings,
  ];
}
