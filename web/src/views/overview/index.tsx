/**
 * All steps at a glance: a row per step, a column per variant, a cell per comparison with its
 * ratio, interval and verdict. For experiments whose chart would fill several screens.
 */

import "./overview.css";
import type { PageStep } from "#page";
import {
  baseIndex,
  measureName,
  onlyCounted,
  ordinarySteps,
  stepAnchor,
  stepLabel,
  variantName,
} from "../../data/page";
import { Scroll } from "../../shared/controls";
import { grouped } from "../../shared/group";
import { usePage, type View } from "../../shared/page";
import { hideTip, showTip } from "../../shared/tip";
import { Marked } from "../../shared/variant";
import { SIGN } from "../../shared/verdict";
import { count, judgedRatio, NOTHING } from "../../text/format";

/** With fewer steps the chart of ratios says the same on one screen. */
const MANY_STEPS = 12;

/** `0.93–0.96`: three digits are in the chart. */
function narrow(low: number, high: number): string {
  return `${low.toFixed(2)}–${high.toFixed(2)}`;
}

function Cell({ step, variant }: { step: PageStep; variant: number }) {
  const found = step.relative.find((relative) => relative.variant === variant);
  if (!found) return <td class="none">{NOTHING}</td>;
  const { low, high, verdict, sentence } = found;
  const show = (event: Event): void => showTip(event.currentTarget as Element, sentence);
  return (
    <td
      data-verdict={verdict}
      data-sure={low === null ? undefined : ""}
      onMouseEnter={show}
      onMouseLeave={hideTip}>
      <span class="sign" aria-hidden="true">
        {SIGN[verdict]}
      </span>
      <span class="ratio">{judgedRatio(found)}</span>
      <span class="minor">{low !== null && high !== null ? narrow(low, high) : ""}</span>
      <span class="offscreen">{verdict}</span>
    </td>
  );
}

/** The verdicts of a group, for when it is folded. */
function summary(steps: PageStep[]): string {
  const verdicts = steps.flatMap((step) => step.relative.map(({ verdict }) => verdict));
  const of = (wanted: string): number => verdicts.filter((verdict) => verdict === wanted).length;
  const parts = [
    of("regression") > 0 && count(of("regression"), "regression"),
    of("improvement") > 0 && count(of("improvement"), "improvement"),
  ].filter((part) => part !== false);
  return parts.length > 0 ? parts.join(", ") : "no regression or improvement";
}

function Group({ name, steps, variants }: { name: string; steps: PageStep[]; variants: number[] }) {
  const page = usePage();
  const table = (
    <Scroll name={name === "" ? "All steps" : `Steps: ${name}`}>
      <table class="overview">
        <thead>
          <tr>
            <th scope="col">Step</th>
            {variants.map((variant) => (
              <th scope="col">
                <Marked variant={variant} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <tr>
              <th scope="row">
                <a href={`#${stepAnchor(page, step)}`}>{stepLabel(page, step)}</a>
              </th>
              {variants.map((variant) => (
                <Cell step={step} variant={variant} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
  if (name === "") return table;
  return (
    <details class="overview-group" open>
      <summary>
        <span class="name">{name}</span> <span class="minor">{summary(steps)}</span>
      </summary>
      {table}
    </details>
  );
}

function Overview() {
  const page = usePage();
  const base = baseIndex(page);
  const variants = page.variants.map((_, variant) => variant).filter((variant) => variant !== base);
  const judged = ordinarySteps(page).filter((step) => step.relative.length > 0);
  return (
    <>
      {grouped(judged, ({ group = "" }) => group).map(([name, steps]) => (
        <Group key={name} name={name} steps={steps} variants={variants} />
      ))}
      <p class="note">
        {measureName(judged)} divided by that of {variantName(page, base)}, with its interval; the
        color is that of the verdict, not of the ratio. A step’s name opens it.
      </p>
    </>
  );
}

export const overview: View = {
  id: "overview",
  name: "Overview",
  title: () => "All steps at a glance",
  applies: (page) =>
    !onlyCounted(page) && page.variants.length > 1 && ordinarySteps(page).length > MANY_STEPS,
  Body: Overview,
};
