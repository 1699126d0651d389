/** What a step's panel holds when it is open: buttons, plots over time, stalls, latencies. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PageStep, PageTrial, Value } from "#page";
import { variantName } from "../../data/page";
import { Heads, Scroll, Select } from "../../shared/controls";
import { grouped } from "../../shared/group";
import { usePage } from "../../shared/page";
import { lookOf, Named, Swatch } from "../../shared/variant";
import { ZoomBar } from "../../shared/zoom";
import { figures, grouped as grouping, NOTHING, short } from "../../text/format";
import {
  aroundIdle,
  type BlockChoice,
  blocksOf,
  hasFigure,
  idleWindows,
  isThinned,
  lines,
  seconds,
  shownTrials,
  stalledSeconds,
} from "./align";
import { allFigures, figuresFor, GROUPS, rateOf, throughputFigure } from "./figures";
import { Latencies } from "./latency";
import { Slices } from "./slices";
import { TimePlot } from "./timeplot";
import { type PlotView, usePlotView } from "./view";
import { Conclusions, Why } from "./why";

const MAIN_HEIGHT = 230;
const SIDE_HEIGHT = 74;

/** The figures that the reader chose to see in every step. */
export interface Chosen {
  figures: ReadonlySet<string>;
  setFigures: (figures: ReadonlySet<string>) => void;
}

function Legend({ view }: { view: PlotView }) {
  const page = usePage();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset looks like a form.
    <div class="chips legend-buttons" role="group" aria-label="Variants shown">
      {page.variants.map(({ name }, variant) => (
        <button
          type="button"
          class="chip"
          data-variant={name}
          aria-pressed={!view.hidden.has(variant)}
          data-dash={lookOf(page, variant).dash.length > 0}
          onClick={() => {
            view.toggle(variant);
            // A finger leaves no button, so the focus would stay.
            view.setFocus(null);
          }}
          onMouseEnter={() => view.setFocus(view.hidden.has(variant) ? null : variant)}
          onMouseLeave={() => view.setFocus(null)}>
          <Swatch variant={variant} />
          {name}
        </button>
      ))}
    </div>
  );
}

/** Which figures are plotted, in all steps. */
function FigurePicker({ step, chosen }: { step: PageStep; chosen: Chosen }) {
  const page = usePage();
  const picker = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeOutside = ({ target }: Event): void => {
      const box = picker.current;
      if (box?.open && !box.contains(target as Node)) box.open = false;
    };
    document.addEventListener("click", closeOutside);
    return () => document.removeEventListener("click", closeOutside);
  }, []);
  const main = throughputFigure(page, step).keys[0];
  const offered = allFigures(page).filter((one) => one.id !== main && hasFigure(step, one));
  if (offered.length === 0) return null;
  const set = (figure: string, shown: boolean): void => {
    const next = new Set(chosen.figures);
    if (shown) next.add(figure);
    else next.delete(figure);
    chosen.setFigures(next);
  };
  const closeByKey = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !picker.current) return;
    picker.current.open = false;
    picker.current.querySelector("summary")?.focus();
  };
  return (
    <details class="picker" ref={picker} onKeyDown={closeByKey}>
      <summary>plots</summary>
      <div class="picker-panel">
        {grouped(offered, ({ group }) => group).map(([group, members]) => (
          <fieldset>
            <legend>{GROUPS[group] ?? group}</legend>
            {members.map(({ id, label }) => (
              <label>
                <input
                  type="checkbox"
                  data-figure={id}
                  checked={chosen.figures.has(id)}
                  onChange={(event) => set(id, event.currentTarget.checked)}
                />
                {label}
              </label>
            ))}
          </fieldset>
        ))}
        <p class="minor">applies to every step</p>
      </div>
    </details>
  );
}

/** Which block is shown; nothing where there is one alone. */
function BlockPicker(props: {
  step: PageStep;
  block: BlockChoice;
  choose: (block: BlockChoice) => void;
}) {
  const blocks = blocksOf(props.step);
  if (blocks.length < 2) return null;
  const options: [BlockChoice, string][] = blocks.map((block) => [block, `block ${block}`]);
  if (isThinned(props.step)) options.unshift(["fullest", "typical blocks"]);
  options.push(["all", "all blocks"]);
  return (
    <Select
      name="Block shown"
      control="block"
      value={props.block}
      options={options}
      onChange={props.choose}
    />
  );
}

/** What the plots cannot say by themselves. */
function Caption(props: { step: PageStep; trials: PageTrial[]; block: BlockChoice }) {
  const { step, trials, block } = props;
  const page = usePage();
  const stalls = grouped(trials, ({ variant }) => variant)
    .map(([variant, all]): [number, number] => [
      variant,
      all.reduce((sum, trial) => sum + stalledSeconds(trial.stalls), 0),
    ])
    .filter(([, total]) => total > 0);
  return (
    <p class="note stalls">
      {stalls.length > 0
        ? "Stalls (ticks above the plots, shaded): "
        : typeof block === "number"
          ? "No stalls in this block."
          : "No stalls."}
      {stalls.map(([variant, total]) => (
        <span class="value">
          <Swatch variant={variant} />
          {variantName(page, variant)} {total} s
        </span>
      ))}
      {block !== "all" &&
        trials.some(({ events = [] }) => events.length > 0) &&
        " Triangles on the axis: what a server did by itself, from its log; point at them."}
      {isThinned(step) &&
        " To keep this file small, hardware per second is from one typical block per variant."}
      {Object.entries(step.rates).map(
        ([name, rate]) => ` Dashed line: the target ${name} rate, ${short(rate)}/s.`,
      )}
    </p>
  );
}

/** Throughput before, while and after idle-priority processes ran. */
function Idle({ step, trials }: { step: PageStep; trials: PageTrial[] }) {
  const rows = aroundIdle(trials);
  const [[from, to] = []] = idleWindows(trials);
  if (rows.length === 0 || from === undefined || to === undefined) return null;
  const times = (value: Value): string => (value === null ? NOTHING : `${figures(value)} ×`);
  return (
    <div class="idle">
      <p class="note">
        Gray: idle-priority processes ran, from second {from + 0.5} to {to + 0.5}.
      </p>
      <Scroll name={`Throughput of ${step.name} around idle-priority processes`}>
        <table class="data idle-rates">
          <thead>
            <tr>
              <Heads
                of={[
                  [`${step.unit}/s`, "label"],
                  ["before"],
                  ["during"],
                  ["/ before", "minor"],
                  ["after"],
                  ["/ before", "minor"],
                ]}
              />
            </tr>
          </thead>
          <tbody>
            {rows.map(({ variant, before, during, after, duringRatio, afterRatio }) => (
              <tr>
                <th scope="row">
                  <Named variant={variant} />
                </th>
                <td>{grouping(before)}</td>
                <td>{grouping(during)}</td>
                <td>{times(duringRatio)}</td>
                <td>{grouping(after)}</td>
                <td>{times(afterRatio)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </div>
  );
}

/** The panel's body. */
export function StepBody({ step, chosen }: { step: PageStep; chosen: Chosen }) {
  const page = usePage();
  const length = useMemo(() => seconds(step), []);
  // Slices scatter little about what they compare.
  const view = usePlotView(Math.max(1, length), step.slices === undefined);
  const [block, setBlock] = useState<BlockChoice>(
    isThinned(step) ? "fullest" : (blocksOf(step)[0] ?? "all"),
  );
  const main = throughputFigure(page, step);
  const { slices } = step;
  const timed = length > 0;
  // What follows from the data alone; the cursor changes the view many times a second.
  const { trials, hasMain, plotted } = useMemo(() => {
    const trials = shownTrials(step, block);
    const figures = figuresFor(page, { ...step, trials }, chosen.figures);
    const hasMain = hasFigure({ ...step, trials }, main);
    if (hasMain) figures.unshift(main);
    const plotted = figures.map((figure) => ({ figure, of: lines(step, figure, block, length) }));
    return { trials, hasMain, plotted };
  }, [block, chosen.figures]);
  const picker = useMemo(() => <FigurePicker step={step} chosen={chosen} />, [chosen.figures]);
  return (
    <>
      {step.why && <Conclusions why={step.why} />}
      <div class="bar step-bar">
        <Legend view={view} />
        <span class="controls">
          {timed && <BlockPicker step={step} block={block} choose={setBlock} />}
          {picker}
          {(timed || slices) && (
            <label class="pick">
              <input
                type="checkbox"
                data-control="zero"
                checked={view.fromZero}
                onChange={(event) => view.setFromZero(event.currentTarget.checked)}
              />{" "}
              y from 0
            </label>
          )}
          {timed && <ZoomBar view={view} words="seconds" />}
        </span>
      </div>
      {slices && <Slices step={step} slices={slices} view={view} />}
      <div class="plots">
        {!hasMain && !slices && (
          <p class="note">
            {step.throughput.every((value) => value === null)
              ? "No trial has finished this step."
              : "No throughput per second: the step is one statement or too short."}
          </p>
        )}
        {plotted.map(({ figure, of }, place) => {
          const labelled = figure.id === main.id || place === plotted.length - 1;
          return (
            <TimePlot
              key={`${figure.id} ${block} ${labelled}`}
              step={step}
              figure={figure}
              lines={of}
              trials={trials}
              block={block}
              view={view}
              length={length}
              height={figure.id === main.id ? MAIN_HEIGHT : SIDE_HEIGHT}
              labelled={labelled}
              target={rateOf(step, figure)}
            />
          );
        })}
      </div>
      {timed && <Caption step={step} trials={trials} block={block} />}
      <Idle step={step} trials={trials} />
      <Latencies step={step} view={view} />
      {step.why && <Why why={step.why} />}
    </>
  );
}
