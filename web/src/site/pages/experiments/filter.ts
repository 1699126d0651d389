/** Which experiments a filter leaves, and what it can be set to. */

import type { Brief, MachineGlance, Verdict } from "#page";
import { VERDICTS } from "../../../shared/verdict";
import type { Filter } from "../../route";

/** The text in which words are looked for. */
function text(brief: Brief, machines: Map<string, string>): string {
  const { name, id, label, state, purpose, variants } = brief;
  const of = variants.flatMap((one) => [one.name, one.system, one.version]);
  const ran = brief.machines.map((key) => machines.get(key) ?? "");
  return [name, `#${id}`, label, state, purpose, ...of, ...ran].join("\n").toLowerCase();
}

/** The experiments that a filter leaves. All words must be found, in any order. */
export function filtered(briefs: Brief[], filter: Filter, machines: Map<string, string>): Brief[] {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const { workload, system, version, machine, verdict } = filter;
  return briefs.filter((brief) => {
    if (workload !== "" && brief.workload !== workload) return false;
    if (machine !== "" && !brief.machines.includes(machine)) return false;
    if (verdict !== "" && !(brief.verdicts[verdict as Verdict] > 0)) return false;
    // One variant must have both.
    const fits = brief.variants.some(
      (one) =>
        (system === "" || one.system === system) &&
        (version === "" || short(one.version) === version),
    );
    if ((system !== "" || version !== "") && !fits) return false;
    if (words.length === 0) return true;
    const searched = text(brief, machines);
    return words.every((word) => searched.includes(word));
  });
}

/** The version alone of a text such as `PostgreSQL 14.3 (Debian 14.3-1)`. */
export function short(version: string): string {
  return version.split(/\s+/).find((word) => /^\d/.test(word)) ?? version;
}

/** The values that each part of a filter can have. */
export interface Choices {
  workload: string[];
  system: string[];
  version: string[];
  machine: [string, string][];
  verdict: readonly Verdict[];
}

/** The choices; versions only of the chosen system. */
export function choices(briefs: Brief[], filter: Filter, machines: MachineGlance[]): Choices {
  const sorted = (values: Iterable<string>): string[] =>
    [...new Set(values)].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const variants = briefs.flatMap((brief) => brief.variants);
  const of = variants.filter(({ system }) => filter.system === "" || system === filter.system);
  return {
    workload: sorted(briefs.map((brief) => brief.workload)),
    system: sorted(variants.map(({ system }) => system)),
    version: sorted(of.map(({ version }) => short(version))).filter((version) => version !== ""),
    machine: machines.map(({ key, name }) => [key, name]),
    verdict: VERDICTS,
  };
}
