/** Variants of any experiments with the same steps, beside each other. */

import "./compare.css";
import type { ComponentChildren } from "preact";
import type { Brief, ExperimentsDocument, Page } from "#page";
import { stepLabel } from "../../../data/page";
import { Heads, Remarks, Scroll, Select } from "../../../shared/controls";
import { VerdictMark } from "../../../shared/verdict";
import { figures, ratio } from "../../../text/format";
import { machineNames } from "../../briefs";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { go } from "../../navigate";
import { compareAddress, experimentAddress, type Picked } from "../../route";
import { parsePage } from "../experiment/parse";
import { type Cell, compared, remarks, type Side, sidesOf } from "./relate";

/** Reads the experiments one after another, and gives those that are there to its children. */
function Gathered({
  ids,
  read = new Map(),
  children,
}: {
  ids: number[];
  read?: ReadonlyMap<number, Page>;
  children: (pages: ReadonlyMap<number, Page>) => ComponentChildren;
}) {
  const [id, ...rest] = ids;
  if (id === undefined) return <>{children(read)}</>;
  return (
    <One key={id} id={id}>
      {(page) => (
        <Gathered ids={rest} read={page ? new Map([...read, [id, page]]) : read}>
          {children}
        </Gathered>
      )}
    </One>
  );
}

function One({ id, children }: { id: number; children: (page: Page | null) => ComponentChildren }) {
  const got = useDocument(`api/v1/experiments/${id}.json`, parsePage, "It is not there.");
  if (got !== null && "problem" in got) return <>{children(null)}</>;
  return <Loaded got={got}>{children}</Loaded>;
}

function Ratio({ cell }: { cell: Cell }) {
  if (cell.ratio === null) return <span class="minor">{cell.said}</span>;
  const text = cell.doubtful ? `(${ratio(cell.ratio)})` : ratio(cell.ratio);
  return (
    <>
      <span title={cell.said}>{text}</span>{" "}
      {cell.verdict ? (
        <VerdictMark verdict={cell.verdict} />
      ) : (
        <span class="minor">{cell.said}</span>
      )}
    </>
  );
}

function Sides({ sides }: { sides: Side[] }) {
  const picks = sides.map(({ pick }) => pick);
  const without = (place: number): string => compareAddress(picks.filter((_, at) => at !== place));
  const first = (place: number): string =>
    compareAddress([...picks.slice(place, place + 1), ...picks.filter((_, at) => at !== place)]);
  return (
    <ol class="sides">
      {sides.map(({ pick, brief }, place) => (
        <li key={`${pick.experiment}:${pick.variant}`}>
          <strong>{pick.variant}</strong> of{" "}
          <a href={experimentAddress(brief.id)}>
            {brief.name} #{brief.id}
          </a>
          {place === 0 ? " (the others are compared with it) " : " "}
          {place > 0 && (
            <>
              <a href={first(place)} aria-label={`${pick.variant} of ${brief.id} as base`}>
                as base
              </a>{" "}
            </>
          )}
          <a href={without(place)} aria-label={`leave out ${pick.variant} of ${brief.id}`}>
            leave out
          </a>
        </li>
      ))}
    </ol>
  );
}

function Figures({ sides }: { sides: Side[] }) {
  const steps = compared(sides);
  const [base] = sides;
  if (!base || steps.length === 0) return <p class="lead">There are no steps to compare.</p>;
  const nameOf = ({ pick }: Side): string => `${pick.experiment}:${pick.variant}`;
  return (
    <Scroll name="Throughput">
      <table class="data compared">
        <caption class="offscreen">Throughput, and relative to {nameOf(base)}</caption>
        <thead>
          <tr>
            <Heads
              of={[
                ["Step", "label"],
                ...sides.map((side): [string] => [nameOf(side)]),
                ...sides
                  .slice(1)
                  .map((side): [string, string] => [`${nameOf(side)} / base`, "label"]),
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {steps.map(({ step, cells }) => (
            <tr key={stepLabel(base.page, step)}>
              <th scope="row">
                {stepLabel(base.page, step)} <span class="minor">{step.unit}</span>
              </th>
              {cells.map((cell) => (
                <td>{figures(cell.throughput)}</td>
              ))}
              {cells.slice(1).map((cell) => (
                <td class="label wide">
                  <Ratio cell={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Choosers of a further variant: of experiments with the workload of the first. */
function More({ picks, briefs }: { picks: Picked[]; briefs: Brief[] }) {
  const first = briefs.find(({ id }) => id === picks[0]?.experiment);
  const fits = briefs.filter(
    ({ purpose, problem, history }) =>
      purpose !== "count" && !problem && (!first || history === first.history),
  );
  const taken = (id: number, variant: string): boolean =>
    picks.some((pick) => pick.experiment === id && pick.variant === variant);
  const options = fits.flatMap(({ id, name, variants }) =>
    variants
      .filter((variant) => !taken(id, variant.name))
      .map((variant): [string, string] => [
        `${id}:${variant.name}`,
        `${variant.name} of ${name} #${id}`,
      ]),
  );
  const add = (value: string): void => {
    const colon = value.indexOf(":");
    if (colon < 0) return;
    const pick = { experiment: Number(value.slice(0, colon)), variant: value.slice(colon + 1) };
    go(compareAddress([...picks, pick]));
  };
  return (
    <div class="bar filters">
      <Select
        key={picks.length}
        name="Add a variant"
        control="add"
        value=""
        options={[["", picks.length === 0 ? "choose a variant" : "add a variant"], ...options]}
        onChange={add}
      />
    </div>
  );
}

function Shown({ picks, all }: { picks: Picked[]; all: ExperimentsDocument }) {
  const ids = [...new Set(picks.map(({ experiment }) => experiment))];
  return (
    <>
      <More picks={picks} briefs={all.experiments} />
      <Gathered key={ids.join(" ")} ids={ids}>
        {(pages) => {
          const { sides, missing } = sidesOf(picks, pages, all.experiments);
          return (
            <>
              <Sides sides={sides} />
              <Remarks lines={[...missing, ...remarks(sides, machineNames(all.machines))]} strong />
              {sides.length > 0 && <Figures sides={sides} />}
            </>
          );
        }}
      </Gathered>
    </>
  );
}

export function ComparePage({ picks }: { picks: Picked[] }) {
  const got = useDocument(
    "api/v1/experiments.json",
    parseDocument<ExperimentsDocument>,
    "There is no list of experiments here.",
  );
  return (
    <>
      <Title name="Compare" />
      <Loaded got={got}>{(all) => <Shown picks={picks} all={all} />}</Loaded>
    </>
  );
}
