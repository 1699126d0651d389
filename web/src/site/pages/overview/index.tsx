/** What needs a look: confirmed regressions and improvements, machines, the last experiments. */

import "./overview.css";
import { useState } from "preact/hooks";
import type { Brief, Moved, OverviewDocument } from "#page";
import { Heads, Scroll } from "../../../shared/controls";
import { SIGN } from "../../../shared/verdict";
import { change, count, moment } from "../../../text/format";
import { BriefTable, machineNames, machinesOf, State, Verdicts } from "../../briefs";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { experimentAddress, experimentsAddress } from "../../route";

/** Experiments with something confirmed that are shown at first. */
const SHOWN = 8;

function MovedLine({ brief, moved }: { brief: Brief; moved: Moved }) {
  const place = moved.place > 0 ? `step-${moved.place}` : "counts";
  return (
    <li data-verdict={moved.verdict}>
      <span class="verdict">
        <span class="sign" aria-hidden="true">
          {SIGN[moved.verdict]}
        </span>
        <span class="word">{moved.verdict}</span>
      </span>
      <span class="size">{moved.ratio === null ? "" : change(moved.ratio)}</span>
      <span class="what">
        <a href={experimentAddress(brief.id, place)}>{moved.step}</a>{" "}
        <span class="minor">{moved.variant}</span>
        <span class="sentence">{moved.sentence}</span>
        {moved.noted !== undefined && <span class="sentence">noted: {moved.noted}</span>}
      </span>
    </li>
  );
}

function Found({ brief, machines }: { brief: Brief; machines: Map<string, string> }) {
  const { regression, improvement } = brief.verdicts;
  const more = regression + improvement - (brief.moved?.length ?? 0);
  return (
    <article class="found" data-experiment={brief.id}>
      <h2>
        <a href={experimentAddress(brief.id)}>{brief.name}</a>{" "}
        <span class="minor">#{brief.id}</span>
        <State brief={brief} />
      </h2>
      <p class="about">
        <Verdicts counts={brief.verdicts} />
        <span>{brief.label}</span>
        <span>
          {brief.variants
            .filter(({ name }) => name !== brief.base)
            .map(({ name }) => name)
            .join(", ")}{" "}
          against {brief.base}
        </span>
        <span>{machinesOf(brief, machines)}</span>
        <span>{moment(brief.started)}</span>
      </p>
      <ul class="moved">
        {brief.moved?.map((moved) => (
          <MovedLine key={`${moved.place} ${moved.variant}`} brief={brief} moved={moved} />
        ))}
      </ul>
      {more > 0 && (
        <p class="note">
          <a href={experimentAddress(brief.id)}>{count(more, "more verdict")}</a> of this kind
        </p>
      )}
    </article>
  );
}

function Machines({ machines }: Pick<OverviewDocument, "machines">) {
  return (
    <Scroll name="Table of machines">
      <table class="data">
        <thead>
          <tr>
            <Heads of={[["Machine", "label"], ["Experiments"], ["The last began", "label"]]} />
          </tr>
        </thead>
        <tbody>
          {machines.map(({ key, name, experiments, last }) => (
            <tr key={key}>
              <th scope="row">
                <a href={`./?view=machines#${key}`}>{name}</a>
              </th>
              <td>
                <a href={experimentsAddress({ machine: key })}>{experiments}</a>
              </td>
              <td class="label">{moment(last)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Overview({ overview }: { overview: OverviewDocument }) {
  const { found, found_in, machines, latest, experiments } = overview;
  const names = machineNames(machines);
  const [all, setAll] = useState(false);
  if (experiments === 0) return <p class="lead">There are no experiments yet.</p>;
  return (
    <>
      {found.length === 0 ? (
        <p class="lead">
          No regression and no improvement is confirmed in {count(experiments, "experiment")}.
        </p>
      ) : (
        <p class="lead">
          {found.some(({ wrong }) => wrong !== undefined)
            ? "There are confirmed regressions or improvements, or failed queries or wrong results,"
            : "Regressions or improvements are confirmed"}{" "}
          in {found_in} of {count(experiments, "experiment")}; the newest come first.
        </p>
      )}
      {found.slice(0, all ? found.length : SHOWN).map((brief) => (
        <Found key={brief.id} brief={brief} machines={names} />
      ))}
      {!all && found.length > SHOWN && (
        <p>
          <button type="button" class="quiet" onClick={() => setAll(true)}>
            show {found.length - SHOWN} more
          </button>
        </p>
      )}
      {found_in > found.length && (
        <p class="note">
          <a href={experimentsAddress({ verdict: "regression" })}>All with a regression</a> ·{" "}
          <a href={experimentsAddress({ verdict: "improvement" })}>all with an improvement</a>
        </p>
      )}
      <section aria-labelledby="machines-title">
        <h2 id="machines-title">Machines</h2>
        <Machines machines={machines} />
      </section>
      <section aria-labelledby="latest-title">
        <h2 id="latest-title">The last experiments</h2>
        <BriefTable name="Table of the last experiments" briefs={latest} machines={names} />
        {experiments > latest.length && (
          <p class="note">
            <a href={experimentsAddress({})}>All {experiments} experiments</a>
          </p>
        )}
      </section>
    </>
  );
}

export function OverviewPage() {
  const got = useDocument(
    "api/v1/overview.json",
    parseDocument<OverviewDocument>,
    "There is no overview here.",
  );
  return (
    <>
      <Title name="Overview" />
      <Loaded got={got}>{(overview) => <Overview overview={overview} />}</Loaded>
    </>
  );
}
