/** Kinds with a bar for each variant, made of its phases. */

import type { CountVerdict, PageCount, PageCounts, PageKind } from "#page";
import { Breakable, Heads, Scroll } from "../../shared/controls";
import { usePage } from "../../shared/page";
import { hideTip, showTip, TipTable } from "../../shared/tip";
import { Named } from "../../shared/variant";
import { exactChange, repeatability, signedWork, work } from "../../text/exact";
import { NOTHING } from "../../text/format";

/** Names of kinds that are longer than this may break. */
const LONG = 24;

export const SIGNS: Record<CountVerdict, string> = {
  regression: "▼",
  improvement: "▲",
  equivalent: "=",
  same: "",
  inconclusive: "?",
};

/** Names of the phases of some kinds, in order. */
export function phaseNames(kinds: PageKind[]): string[] {
  const all = kinds.flatMap((kind) => kind.counts.flatMap((count) => count.phases));
  return [...new Set(all.map(([name]) => name))];
}

/** How the style sheet colors a phase: known ones by name, others in turn. */
function phaseLook(name: string, names: string[]): string {
  const known = ["parse", "analyze", "plan", "execute", "other"];
  return known.includes(name) ? name : (known[names.indexOf(name) % known.length] ?? "other");
}

/** The counted variant with the swatch of the run's variant of this name. */
export function CountedName({ counts, variant }: { counts: PageCounts; variant: number }) {
  const name = counts.variants[variant] ?? `variant ${variant + 1}`;
  const known = usePage().variants.findIndex((one) => one.name === name);
  return <Named variant={known} name={name} />;
}

interface BarProps {
  kind: PageKind;
  count: PageCount;
  base: PageCount | undefined;
  names: string[];
  noun: string;
}

/** The bar of a count: its phases one after the other, on the scale of its kind. */
function Bar({ kind, count, base, names, noun }: BarProps) {
  const most = Math.max(...kind.counts.map((one) => one.total / one.statements));
  const all = count.total / count.statements;
  const phases: [string, number][] =
    count.phases.length > 0 ? count.phases : [["other", count.total]];
  const share = (value: number): number => (value / Math.max(1, count.total)) * 100;
  const said = phases.map(([name, value]) => `${name} ${share(value).toFixed(0)}%`).join(", ");
  const moved = (name: string, each: number): string | null => {
    if (!base || base === count) return null;
    const before = base.phases.find(([other]) => other === name);
    return before ? signedWork(each - before[1] / base.statements) : NOTHING;
  };
  const tip = () => (
    <TipTable
      title={kind.kind}
      about={`per ${noun}`}
      rows={phases.map(([name, value]) => {
        const each = value / count.statements;
        const key = <i class="phase-key" data-phase={phaseLook(name, names)} />;
        return [[key, name], work(each), `${share(value).toFixed(1)}%`, moved(name, each)];
      })}
    />
  );
  return (
    <div
      class="phases"
      style={`width:${((all / most) * 100).toFixed(3)}%`}
      role="img"
      aria-label={`${kind.kind}: ${said}`}
      onPointerEnter={(event) => showTip(event.currentTarget, tip())}
      onPointerLeave={hideTip}>
      {phases.map(([name, value]) => (
        <span data-phase={phaseLook(name, names)} style={`flex-grow:${value}`} />
      ))}
    </div>
  );
}

/** How the count compares with that of the base, in words. */
function changeWords(count: PageCount, base: number): string {
  if (count.relative === null) return count.variant === base ? "base" : NOTHING;
  return count.verdict === "same" ? "same" : exactChange(count.relative);
}

function ratioWords({ relative, variant }: PageCount, base: number): string {
  if (relative === null) return variant === base ? "" : NOTHING;
  return relative.toFixed(4);
}

/** The kinds of one protocol and place: a row for each variant of each. */
export function Bars({ counts, kinds }: { counts: PageCounts; kinds: PageKind[] }) {
  const names = phaseNames(kinds);
  const rows = kinds.some((kind) => kind.counts.some((count) => count.rows > 0));
  const several = counts.variants.length > 1;
  const { noun } = counts;
  return (
    <Scroll name={`Counts per ${noun}`}>
      <table class="counts">
        <thead>
          <tr>
            <Heads
              of={[
                ["kind", "kind"],
                ["variant", "variant"],
              ]}
            />
            <th class="bar-cell" scope="col">
              {names.length === 0 && `${counts.event} per ${noun}`}
              <span class="phase-legend">
                {names.map((name) => (
                  <span>
                    <i class="phase-key" data-phase={phaseLook(name, names)} />
                    {name}
                  </span>
                ))}
              </span>
            </th>
            <Heads of={[[`per ${noun}`]]} />
            {rows && <Heads of={[["per row", "roomy"]]} />}
            {several && <Heads of={[["relative"], ["difference"]]} />}
            <Heads of={[["repeats to", "roomy"]]} />
          </tr>
        </thead>
        {kinds.map((kind) => (
          <tbody data-kind-of={kind.kind}>
            {kind.counts.map((count, index) => (
              <tr data-verdict={count.verdict ?? undefined}>
                {index === 0 && (
                  <th
                    class={kind.kind.length > LONG ? "kind long" : "kind"}
                    scope="rowgroup"
                    rowSpan={kind.counts.length}>
                    {kind.kind.length > LONG ? <Breakable name={kind.kind} /> : kind.kind}
                  </th>
                )}
                <th class="variant" scope="row">
                  <CountedName counts={counts} variant={count.variant} />
                </th>
                <td class="bar-cell">
                  <Bar
                    kind={kind}
                    count={count}
                    base={kind.counts.find((one) => one.variant === counts.base)}
                    names={names}
                    noun={noun}
                  />
                </td>
                <td>{work(count.total / count.statements)}</td>
                {rows && (
                  <td class="roomy">{count.rows > 0 ? work(count.total / count.rows) : NOTHING}</td>
                )}
                {several && <td>{ratioWords(count, counts.base)}</td>}
                {several && (
                  <td class="change" title={count.verdict ?? undefined}>
                    {changeWords(count, counts.base)}
                    {count.verdict && SIGNS[count.verdict] !== "" && (
                      <span class="sign" aria-hidden="true">
                        {` ${SIGNS[count.verdict]}`}
                      </span>
                    )}
                  </td>
                )}
                <td class="roomy minor">{repeatability(count)}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </Scroll>
  );
}
