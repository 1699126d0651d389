/** The list of steps: every panel's head at once, its plots only when it is open and near. */

import "./steps.css";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Page, PageStep } from "#page";
import {
  baseIndex,
  onlyCounted,
  stepAnchor,
  stepMarks,
  sweepOf,
  variantName,
} from "../../data/page";
import { grouped } from "../../shared/group";
import { useNear } from "../../shared/near";
import { usePage, type View } from "../../shared/page";
import { usePrinting } from "../../shared/print";
import { Swatch } from "../../shared/variant";
import { SIGN } from "../../shared/verdict";
import { count, ratio, short } from "../../text/format";
import { type Chosen, StepBody } from "./body";
import { defaultFigures } from "./figures";

/** The step at a glance: throughput of the base and every ratio with its verdict's sign. */
function Glance({ step }: { step: PageStep }) {
  const page = usePage();
  const base = baseIndex(page);
  return (
    <span class="glance">
      <span class="base-value">
        <Swatch variant={base} />
        {short(step.throughput[base])} {step.unit}/s
      </span>
      {[...step.relative]
        .sort((a, b) => a.variant - b.variant)
        .map(({ variant, verdict, ratio: value }) => (
          <span
            class="ratio"
            data-verdict={verdict}
            title={`${variantName(page, variant)}: ${verdict}`}>
            <Swatch variant={variant} />
            <span class="offscreen">{variantName(page, variant)}</span>
            {ratio(value)}
            <span class="sign" role="img" aria-label={verdict}>
              {SIGN[verdict]}
            </span>
          </span>
        ))}
    </span>
  );
}

/** Why the figures of a step cannot be read, if so: the rest of the page stays of use. */
function unreadable({ trials }: PageStep): string | null {
  try {
    for (const trial of trials) void trial.series;
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "unknown error";
  }
}

/** What an open panel holds, as soon as the reader is near. */
function LateBody({ step, chosen, early }: { step: PageStep; chosen: Chosen; early: boolean }) {
  const room = useRef<HTMLDivElement>(null);
  const near = useNear(room);
  const [painted, setPainted] = useState(false);
  // Ready before the reader gets there, but after the head has been painted.
  useEffect(() => setPainted(early), []);
  if (!near && !painted) return <div ref={room} class="step-room" />;
  const why = unreadable(step);
  if (why === null) return <StepBody step={step} chosen={chosen} />;
  return (
    <p class="note" role="alert">
      The figures of this step are not valid JSON ({why}). Write the report again with “steelyard
      report”.
    </p>
  );
}

interface PanelProps {
  step: PageStep;
  first: boolean;
  open: boolean;
  setOpen: (open: boolean) => void;
  chosen: Chosen;
}

function Panel({ step, first, open, setOpen, chosen }: PanelProps) {
  const page = usePage();
  const id = stepAnchor(page, step);
  const opened = useRef(open);
  opened.current ||= open;
  return (
    <section
      class="step"
      id={id}
      data-step={step.name}
      data-dop={step.dop}
      aria-label={`Step ${step.name}`}>
      <div class="step-head">
        <h3>
          <button
            type="button"
            class="step-toggle"
            aria-expanded={open}
            aria-controls={`${id}-body`}
            onClick={() => setOpen(!open)}>
            <span class="arrow" aria-hidden="true" />
            <span class="step-name">{step.name}</span>
            <span class="minor">{stepMarks(page, step).join(" · ")}</span>
          </button>
        </h3>
        <Glance step={step} />
      </div>
      <div class="step-body" id={`${id}-body`} hidden={!open}>
        {opened.current && <LateBody step={step} chosen={chosen} early={first} />}
      </div>
    </section>
  );
}

/** The points of a sweep, which may be hundreds: listed when the reader wants to see them. */
function Points(props: {
  name: string;
  number: number;
  open: boolean;
  setOpen: (open: boolean) => void;
  children: () => ComponentChildren;
}) {
  const { name, number, open, setOpen, children } = props;
  const printing = usePrinting();
  return (
    <details
      class="step-points"
      data-sweep={name}
      open={open}
      onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="step-name">{name}</span>{" "}
        <span class="minor">{count(number, "point")}, one value per second of each</span>
      </summary>
      {(open || printing) && children()}
    </details>
  );
}

/** Steps in order of the run; those of a sweep together. */
function inGroups(page: Page): { sweep: number | null; places: number[] }[] {
  const swept = sweepOf(page);
  return grouped([...page.steps.keys()], (place) => swept.get(place) ?? `step ${place}`).map(
    ([key, places]) => ({ sweep: typeof key === "number" ? key : null, places }),
  );
}

function Steps() {
  const page = usePage();
  const { steps, sweeps = [] } = page;
  const groups = useMemo(() => inGroups(page), []);
  const [listed, setListed] = useState<ReadonlySet<number>>(new Set());
  const list = (sweep: number, opens: boolean): void =>
    setListed((before) => {
      const next = new Set(before);
      if (opens) next.add(sweep);
      else next.delete(sweep);
      return next;
    });
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set([0]));
  const [figures, setFigures] = useState<ReadonlySet<string>>(() => defaultFigures(page));
  const [linked, setLinked] = useState(0);

  const change = (place: number, opens: boolean): void =>
    setOpen((before) => {
      const next = new Set(before);
      if (opens) next.add(place);
      else next.delete(place);
      return next;
    });
  /** Opens the panel that the address names. */
  const follow = (): void => {
    const place = Number(/^#step-(\d+)$/.exec(window.location.hash)?.[1]) - 1;
    if (!steps[place]) return;
    const sweep = groups.find(({ places }) => places.includes(place))?.sweep ?? null;
    if (sweep !== null) list(sweep, true);
    change(place, true);
    setLinked((before) => before + 1);
  };
  useLayoutEffect(() => {
    window.addEventListener("hashchange", follow);
    follow();
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  useLayoutEffect(() => {
    if (linked > 0) document.getElementById(window.location.hash.slice(1))?.scrollIntoView();
  }, [linked]);

  if (steps.length === 0) return <p class="note">No step has been measured.</p>;
  const all = (opens: boolean) => () => setOpen(new Set(opens ? steps.keys() : []));
  return (
    <>
      <div class="bar">
        <span class="minor">
          {count(steps.length, "step")} in order of the run, one value per second or per slice
        </span>
        {steps.length > 1 && (
          <span class="controls">
            <button type="button" class="quiet" onClick={all(true)}>
              open all
            </button>
            <button type="button" class="quiet" onClick={all(false)}>
              close all
            </button>
          </span>
        )}
      </div>
      {groups.map(({ sweep, places }) => {
        const panels = () =>
          places.map((place) => (
            <Panel
              step={steps[place] as PageStep}
              first={place === 0}
              open={open.has(place)}
              setOpen={(opens) => change(place, opens)}
              chosen={{ figures, setFigures }}
            />
          ));
        if (sweep === null) return panels();
        return (
          <Points
            name={sweeps[sweep]?.step ?? ""}
            number={places.length}
            open={listed.has(sweep)}
            setOpen={(opens) => list(sweep, opens)}>
            {panels}
          </Points>
        );
      })}
    </>
  );
}

export const steps: View = {
  id: "steps",
  name: "Steps",
  title: () => "Steps over time",
  applies: (page) => !onlyCounted(page),
  Body: Steps,
};
