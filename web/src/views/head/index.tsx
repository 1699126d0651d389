/** The head of the page: what was compared, when, where, the result, and warnings. */

import "./head.css";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { Page, PageWarning } from "#page";
import { baseIndex, onlyCounted, stepAnchor, stepLabel, stepMarks } from "../../data/page";
import { Heads, Scroll } from "../../shared/controls";
import { grouped } from "../../shared/group";
import { usePage } from "../../shared/page";
import { onPrint } from "../../shared/print";
import { Named } from "../../shared/variant";
import { SIGN, VERDICTS } from "../../shared/verdict";
import { count, moment, NOTHING, ratio } from "../../text/format";
import { placeFacts } from "./place";
import { type Extreme, tally, verdictSentence } from "./tally";

function Largest({ of }: { of: Extreme | null }) {
  const page = usePage();
  if (!of) return <td class="label">{NOTHING}</td>;
  return (
    <td class="label">
      {ratio(of.ratio)}{" "}
      <a href={`#${stepAnchor(page, of.step)}`} class="minor">
        {stepLabel(page, of.step)}
      </a>
    </td>
  );
}

function Version({ variant }: { variant: number }) {
  const one = usePage().variants[variant];
  return (
    <td class="label">{one ? `${one.dbms.replace(/@.*$/, "")} ${one.version}`.trim() : NOTHING}</td>
  );
}

function Summary() {
  const page = usePage();
  const base = baseIndex(page);
  return (
    <Scroll name="Summary of verdicts">
      <table class="data summary">
        <caption class="offscreen">
          Steps by verdict for every variant, relative to the base
        </caption>
        <thead>
          <tr>
            <Heads
              of={[
                ["Variant", "label"],
                ["System", "label"],
              ]}
            />
            {VERDICTS.map((verdict) => (
              <th scope="col" data-verdict={verdict}>
                <span aria-hidden="true" class="sign">
                  {SIGN[verdict]}
                </span>
                <span class="word"> {verdict}</span>
              </th>
            ))}
            <Heads
              of={[
                ["Largest regression", "label"],
                ["Largest improvement", "label"],
              ]}
            />
          </tr>
        </thead>
        <tbody>
          {page.variants.length > 0 && (
            <tr data-kind="base">
              <th scope="row">
                <Named variant={base} />
              </th>
              <Version variant={base} />
              <td class="label minor" colSpan={6}>
                base: all others are relative to it
              </td>
            </tr>
          )}
          {tally(page).map(({ variant, counts, worst, best }) => (
            <tr>
              <th scope="row">
                <Named variant={variant} />
              </th>
              <Version variant={variant} />
              {VERDICTS.map((verdict) => (
                <td data-verdict={verdict} class={counts[verdict] ? "" : "zero"}>
                  {counts[verdict]}
                </td>
              ))}
              <Largest of={worst} />
              <Largest of={best} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function warningLine(page: Page, { step, dop, labels = {}, variant, block, text }: PageWarning) {
  const places = [
    step,
    ...(step !== undefined && dop !== undefined
      ? stepMarks(page, { name: step, dop, labels })
      : []),
    variant,
    block !== undefined && `block ${block}`,
  ].filter((place) => place !== undefined && place !== false);
  if (places.length === 0) return text;
  return (
    <>
      <span class="minor">{places.join(" · ")}: </span>
      {text}
    </>
  );
}

function Warnings() {
  const page = usePage();
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => onPrint((printing) => printing && setOpen(true)), []);
  if (page.warnings.length === 0) return null;
  const kinds = grouped(page.warnings, ({ code }) => code.replace(/[-_]/g, " "));
  kinds.sort(([, a], [, b]) => b.length - a.length);
  return (
    <details
      class="warnings"
      id="warnings"
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong>{count(page.warnings.length, "warning")}</strong>
        <span class="kinds">
          {kinds.map(([code, { length }]) => (
            <span class="kind">{length > 1 ? `${code} ×${length}` : code}</span>
          ))}
        </span>
      </summary>
      {kinds.map(([code, warnings]) => (
        <>
          {kinds.length > 1 && <h3>{code}</h3>}
          <ul>
            {warnings.map((warning) => (
              <li>{warningLine(page, warning)}</li>
            ))}
          </ul>
        </>
      ))}
    </details>
  );
}

/** Title, facts, sentence, table, warnings. */
export function Head() {
  const page = usePage();
  const { experiment } = page;
  const variants = count(page.variants.length, "variant");
  const steps = count(page.steps.length, "step");
  const lead = verdictSentence(page);
  const facts: [string, ComponentChildren][] = [
    ["Workload", experiment.workload],
    [
      "Run",
      <>
        {moment(experiment.started)}
        {!experiment.finished && <strong class="unfinished"> · not finished</strong>}
      </>,
    ],
    [
      "Evidence",
      onlyCounted(page)
        ? `counts of ${variants}`
        : `${count(experiment.blocks, "block")} of ${variants}, ${steps}`,
    ],
    ...placeFacts(page.host),
  ];
  return (
    <header class="head">
      <h1>{experiment.name}</h1>
      {lead !== "" && <p class="lead">{lead}</p>}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {!onlyCounted(page) && page.variants.length > 1 && <Summary />}
      <Warnings />
    </header>
  );
}
