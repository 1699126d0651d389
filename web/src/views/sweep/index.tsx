/** Steps of one name over the number of clients: throughput, response times, and every counter. */

import "./sweep.css";
import { useState } from "preact/hooks";
import type { Page, PageSweep, PageSweepMetric } from "#page";
import { intervalName, measureName, sweepSteps } from "../../data/page";
import { Remarks, Select } from "../../shared/controls";
import { usePage, type View } from "../../shared/page";
import { ZoomBar } from "../../shared/zoom";
import { axisDuration, count, ratio, short, withUnit } from "../../text/format";
import {
  type Choice,
  EACH,
  type Factor,
  factors,
  type Measure,
  mainBlocks,
  mainCurve,
  type Shown,
  shownLines,
  usualChoice,
} from "./lines";
import type { Drawn } from "./options";
import { LineSwatch, SweepPlot } from "./plot";
import { type SweepView, useSweepView } from "./view";

const MAIN_HEIGHT = 300;
const SMALL_HEIGHT = 118;

/** Response times that are plotted unasked, in the order of the plots. */
const PERCENTILES = ["p50", "p95", "p99", "p999"];

function percentile({ name }: PageSweepMetric): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** A metric's name as a heading, without what its group says. */
function heading(metric: PageSweepMetric): string {
  if (metric.subject === "latency") return percentile(metric).replace("p999", "p99.9");
  if (metric.subject === "event") return metric.name.replace(/^perf\./, "").replace(/\/o$/, "");
  return metric.name;
}

const isTime = ({ unit }: PageSweepMetric): boolean => unit === "µs";

/** Who is shown: which factor has the colors, what the others are. */
function Choosers(props: {
  all: Factor[];
  choice: Choice;
  by: (key: string) => void;
  fix: (key: string, value: number) => void;
}) {
  const { all, choice } = props;
  if (all.length === 0) return null;
  return (
    <>
      {all.length > 1 && (
        <Select
          label="a line per"
          name="What has a line for each of its values"
          control="sweep-by"
          value={choice.by}
          options={all.map(({ key, name }): [string, string] => [key, name])}
          onChange={props.by}
        />
      )}
      {all
        .filter(({ key }) => key !== choice.by)
        .map(({ key, name, values }) => (
          <Select
            label={name}
            name={`${name} of the lines`}
            control={`sweep-${name}`}
            value={choice.fixed[key] ?? EACH}
            options={[[EACH, "each"], ...values.map((value, at): [number, string] => [at, value])]}
            onChange={(value) => props.fix(key, value)}
          />
        ))}
    </>
  );
}

function Legend({ shown, view }: { shown: Shown[]; view: SweepView }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset looks like a form.
    <div class="chips legend-buttons" role="group" aria-label="Lines shown">
      {shown.map((one) => (
        <button
          type="button"
          class="chip"
          data-line={one.name}
          aria-pressed={!view.hidden.has(one.place)}
          onClick={() => {
            view.toggle(one.place);
            // A finger leaves no button, so the focus would stay.
            view.setFocus(null);
          }}
          onMouseEnter={() => view.setFocus(view.hidden.has(one.place) ? null : one.place)}
          onMouseLeave={() => view.setFocus(null)}>
          <LineSwatch shown={one} />
          {one.name}
        </button>
      ))}
    </div>
  );
}

/** Where throughput falls, in words; those of lines that are not shown, too. */
function Falls({ sweep, shown }: { sweep: PageSweep; shown: Shown[] }) {
  const lines = sweep.lines.flatMap((line, place) =>
    line.cliffs.map(({ sentence }) => {
      const drawn = shown.find((one) => one.place === place);
      return (
        <span class="fall" data-shown={drawn !== undefined}>
          {drawn && <LineSwatch shown={drawn} />}
          {sentence}
        </span>
      );
    }),
  );
  return (
    <div class="falls">
      {lines.length > 0 && (
        <p>
          With more clients, throughput is lower by more than chance explains, although cores were
          still free:
        </p>
      )}
      <Remarks lines={lines} strong />
      <Remarks lines={sweep.notes} />
    </div>
  );
}

interface GroupProps {
  sweep: PageSweep;
  shown: Shown[];
  view: SweepView;
  title: string;
  wanted: (metric: PageSweepMetric) => boolean;
  folded?: boolean;
  /** What makes the plots others. */
  id: string;
}

/** The figures of one subject as small plots on the same axis. */
function Group({ sweep, shown, view, title, wanted, folded = false, id }: GroupProps) {
  const [open, setOpen] = useState(!folded);
  const metrics = sweep.metrics.flatMap((metric, place): [PageSweepMetric, Drawn[]][] => {
    if (!wanted(metric)) return [];
    const drawn = shown.flatMap((one): Drawn[] => {
      const curve = one.line.figures[place];
      return curve ? [{ shown: one, curve, blocks: [] }] : [];
    });
    return drawn.length > 0 ? [[metric, drawn]] : [];
  });
  if (metrics.length === 0) return null;
  const plots = open && (
    <div class="sweep-plots">
      {metrics.map(([metric, drawn]) => (
        <SweepPlot
          key={metric.name}
          version={id}
          id={metric.name}
          sweep={sweep}
          clients={sweep.clients}
          drawn={drawn}
          view={view}
          height={SMALL_HEIGHT}
          marked={false}
          level={null}
          label={heading(metric)}
          about={isTime(metric) ? "" : metric.unit}
          meaning={metric.meaning}
          text={(value) => withUnit(value, isTime(metric) ? "us" : "")}
          axis={(value) => (isTime(metric) ? axisDuration(value) : short(value))}
        />
      ))}
    </div>
  );
  if (!folded) {
    return (
      <div class="sweep-group" data-group={title}>
        <h3>{title}</h3>
        {plots}
      </div>
    );
  }
  return (
    <details
      class="sweep-group"
      data-group={title}
      onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title} <span class="minor">{count(metrics.length, "figure")}</span>
      </summary>
      {plots}
    </details>
  );
}

const TITLES: Record<Measure, [label: string, about: (unit: string) => string]> = {
  throughput: ["", (unit) => unit],
  client: [" per client", (unit) => unit],
  relative: [" relative to the base", () => ""],
};

function Sweep({ sweep }: { sweep: PageSweep }) {
  const page = usePage();
  const all = factors(page, sweep);
  const [choice, choose] = useState(() => usualChoice(page, all));
  const [measure, setMeasure] = useState<Measure>("throughput");
  const view = useSweepView(sweep.clients);
  const shown = shownLines(page, sweep, choice);
  const compared = page.variants.length > 1;
  const drawn = shown.flatMap((one): Drawn[] => {
    const curve = mainCurve(page, sweep, one.line, measure);
    return curve ? [{ shown: one, curve, blocks: mainBlocks(sweep, one.line, measure) }] : [];
  });
  const id = `${JSON.stringify(choice)} ${view.log}`;
  const [which, about] = TITLES[measure];
  const steps = sweepSteps(page, sweep);
  const label = `${measureName(steps)}${which}`;
  const unit = steps.every(({ better }) => better === "less") ? sweep.unit : `${sweep.unit}/s`;
  const relative = measure === "relative";
  const group = { sweep, shown, view, id };
  const options: [Measure, string][] = [
    ["throughput", "throughput"],
    ["client", "throughput per client"],
  ];
  if (compared) options.push(["relative", "relative to the base"]);
  return (
    <section class="sweep" data-sweep={sweep.step} aria-label={`Sweep ${sweep.step}`}>
      <div class="bar">
        <Select
          name="What the chart shows"
          control="sweep-measure"
          value={measure}
          options={options}
          onChange={setMeasure}
        />
        <Choosers
          all={all}
          choice={choice}
          by={(key) => choose(usualChoice(page, all, key))}
          fix={(key, value) => choose({ ...choice, fixed: { ...choice.fixed, [key]: value } })}
        />
      </div>
      <div class="bar sweep-bar">
        <Legend shown={shown} view={view} />
        <span class="controls">
          <label class="pick">
            <input
              type="checkbox"
              data-control="sweep-log"
              checked={view.log}
              onChange={(event) => view.setLog(event.currentTarget.checked)}
            />{" "}
            log clients
          </label>
          <label class="pick">
            <input
              type="checkbox"
              data-control="sweep-zero"
              checked={view.fromZero}
              onChange={(event) => view.setFromZero(event.currentTarget.checked)}
            />{" "}
            y from 0
          </label>
          <ZoomBar view={view} words="clients" />
        </span>
      </div>
      <SweepPlot
        version={`${id} ${measure}`}
        id="main"
        sweep={sweep}
        clients={sweep.clients}
        drawn={drawn}
        view={view}
        height={MAIN_HEIGHT}
        wide
        marked={!relative}
        level={relative ? 1 : null}
        label={label}
        about={about(unit)}
        text={relative ? ratio : (value) => withUnit(value, "/s")}
        axis={relative ? ratio : short}
      />
      <Falls sweep={sweep} shown={shown} />
      <Group
        {...group}
        title="Response time"
        wanted={(metric) =>
          metric.subject === "latency" && PERCENTILES.includes(percentile(metric))
        }
      />
      <Group
        {...group}
        title="Events per operation"
        wanted={({ subject }) => subject === "event"}
      />
      <Group
        {...group}
        title="Costs per operation"
        wanted={({ subject }) => subject === "operation"}
      />
      <Group
        {...group}
        title="Machine and step"
        wanted={({ subject }) => subject === "other"}
        folded
      />
    </section>
  );
}

function blocksWords({ experiment, steps }: Page): string {
  if (experiment.blocks === 1) return "One block: no intervals, and no fall can be claimed.";
  const judged = intervalName(steps.flatMap(({ relative }) => relative));
  return (
    "Lines: means over the blocks; bands: their 95% intervals, below 6 blocks their range; " +
    `dots: single blocks. Relative to the base, bands are the ${judged}, from 6 blocks on.`
  );
}

function Sweeps() {
  const page = usePage();
  const { sweeps = [] } = page;
  const [chosen, choose] = useState(0);
  const sweep = sweeps[chosen];
  if (!sweep) return null;
  return (
    <>
      {sweeps.length > 1 && (
        <div class="bar">
          <Select
            label="step"
            name="Step whose sweep is shown"
            control="sweep-step"
            value={chosen}
            options={sweeps.map(({ step }, place): [number, string] => [place, step])}
            onChange={choose}
          />
        </div>
      )}
      <Sweep key={sweep.step} sweep={sweep} />
      <p class="note">
        {blocksWords(page)} All plots share the numbers of clients in view; the cursor shows the
        values of all lines in each.
      </p>
    </>
  );
}

export const sweep: View = {
  id: "sweep",
  name: "Sweep",
  title: ({ sweeps = [] }) =>
    sweeps.length === 1 ? `${sweeps[0]?.step} over clients` : "Steps over clients",
  applies: ({ sweeps = [] }) => sweeps.length > 0,
  Body: Sweeps,
};
