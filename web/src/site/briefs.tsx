/** Experiments in tables: a row each. */

import type { Brief, MachineGlance, VerdictCounts } from "#page";
import { Heads, Scroll } from "../shared/controls";
import { SIGN, VERDICTS } from "../shared/verdict";
import { count, moment } from "../text/format";
import { experimentAddress } from "./route";

/** Names of machines by their keys. */
export function machineNames(machines: MachineGlance[]): Map<string, string> {
  return new Map(machines.map(({ key, name }) => [key, name]));
}

/** The machines of an experiment in words. */
export function machinesOf(brief: Brief, names: Map<string, string>): string {
  const [first, ...rest] = brief.machines;
  if (first === undefined) return "";
  return rest.length > 0
    ? count(brief.machines.length, "machine")
    : (names.get(first) ?? "unknown machine");
}

/** How the verdicts of an experiment fell, as signs with numbers. */
export function Verdicts({ counts }: { counts: VerdictCounts }) {
  const some = VERDICTS.filter((verdict) => counts[verdict] > 0);
  if (some.length === 0) return <span class="minor">none</span>;
  return (
    <span class="tally">
      {some.map((verdict) => (
        <span key={verdict} class="verdict" data-verdict={verdict}>
          <span class="sign" aria-hidden="true">
            {SIGN[verdict]}
          </span>
          {counts[verdict]}
          <span class="offscreen"> {verdict}, </span>
        </span>
      ))}
    </span>
  );
}

/** What is said of an experiment that has no complete result. */
export function State({ brief }: { brief: Brief }) {
  const words = [
    brief.problem !== undefined && "cannot be shown",
    brief.state !== "finished" && brief.state,
    brief.lost > 0 && `${count(brief.lost, "trial")} without a result`,
    (brief.wrong ?? 0) > 0 && `${brief.wrong} failed or wrong`,
    brief.purpose !== "run" && brief.purpose,
  ].filter((word) => word !== false);
  if (words.length === 0) return null;
  return <span class="state"> {words.join(", ")}</span>;
}

/** Version of the variants, the base first where there are two. */
export function systems({ variants, base }: Brief): string {
  const sorted = [...variants].sort((a, b) => Number(b.name === base) - Number(a.name === base));
  return sorted.map(({ name }) => name).join(", ");
}

interface TableProps {
  name: string;
  briefs: Brief[];
  machines: Map<string, string>;
}

/** A row for each experiment. */
export function BriefTable({ name, briefs, machines }: TableProps) {
  return (
    <Scroll name={name}>
      <table class="data briefs">
        <caption class="offscreen">{name}</caption>
        <thead>
          <tr>
            <Heads
              of={[
                ["Experiment", "label"],
                ["Verdicts", "label"],
                ["Variants", "label"],
                ["Workload", "label"],
                ["Machine", "label"],
                ["Trials"],
                ["Began", "label"],
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {briefs.map((brief) => (
            <tr key={brief.id} data-experiment={brief.id}>
              <th scope="row">
                <a href={experimentAddress(brief.id)}>{brief.name}</a>{" "}
                <span class="minor">#{brief.id}</span>
                <State brief={brief} />
              </th>
              <td class="label">
                <Verdicts counts={brief.verdicts} />
              </td>
              <td class="label wide">{systems(brief)}</td>
              <td class="label">{brief.label}</td>
              <td class="label wide">{machinesOf(brief, machines)}</td>
              <td>{brief.purpose === "count" ? "" : brief.trials}</td>
              <td class="label">{moment(brief.started)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
