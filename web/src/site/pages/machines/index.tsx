/** The machines: what was recorded of them, and how much their trials vary. */

import "./machines.css";
import { useLayoutEffect } from "preact/hooks";
import type { MachineDocument, MachinesDocument } from "#page";
import { Facts } from "../../../shared/facts";
import { count, moment } from "../../../text/format";
import { parseDocument, useDocument } from "../../documents";
import { Loaded, Title } from "../../frame";
import { showPlace } from "../../navigate";
import { experimentAddress, experimentsAddress } from "../../route";

const WIDTH = 320;
const HEIGHT = 44;

/** A fraction as a percentage. */
function percent(value: number): string {
  const text = (value * 100).toPrecision(2);
  return `${Number(text)}%`;
}

/** The spread of each experiment as a line, oldest first. */
function Noise({ machine }: { machine: MachineDocument }) {
  const { noise, median_noise, too_noisy } = machine;
  if (median_noise === null) return null;
  const most = Math.max(...noise.map((point) => point.noise));
  const x = (place: number): number =>
    noise.length < 2 ? WIDTH / 2 : (place / (noise.length - 1)) * (WIDTH - 8) + 4;
  const y = (value: number): number => HEIGHT - 4 - (most > 0 ? value / most : 0) * (HEIGHT - 8);
  const points = noise.map((point, place) => `${x(place).toFixed(1)},${y(point.noise).toFixed(1)}`);
  const last = noise[noise.length - 1];
  const worst = noise.find((point) => point.noise === most);
  return (
    <div class="noise">
      <p>
        Throughput varies by <strong>{percent(median_noise)}</strong> between the trials of a
        variant
        <span class="minor">
          {" "}
          (deviation / mean; median of {count(noise.length, "experiment")})
        </span>
        {worst && noise.length > 1 && (
          <>
            , at most {percent(most)} in{" "}
            <a href={experimentAddress(worst.experiment)}>#{worst.experiment}</a>
          </>
        )}
        .
        {too_noisy.length > 0 && (
          <strong class="too-noisy">
            {" "}
            Too noisy for {too_noisy.join(", ")}: the mean over the machines that ran it would be
            more precise without this one.
          </strong>
        )}
      </p>
      {noise.length > 1 && (
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          width={WIDTH}
          height={HEIGHT}
          role="img"
          aria-label={
            `Variation between trials over ${count(noise.length, "experiment")}, from 0 to ` +
            `${percent(most)}; the last has ${percent(last?.noise ?? 0)}`
          }>
          <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT - 4} y2={HEIGHT - 4} />
          <line class="median" x1="0" x2={WIDTH} y1={y(median_noise)} y2={y(median_noise)} />
          <polyline points={points.join(" ")} />
        </svg>
      )}
    </div>
  );
}

function Machine({ machine }: { machine: MachineDocument }) {
  const { key, name, experiments, last } = machine;
  const spoils = machine.facts.filter(
    ({ group, value }) => group === "doctor" && /^(warn|fail):/.test(value),
  );
  return (
    <section id={key} aria-labelledby={`${key}-title`}>
      <h2 id={`${key}-title`}>{name}</h2>
      <p class="about">
        <a href={experimentsAddress({ machine: key })}>{count(experiments, "experiment")}</a>; the
        last began {moment(last)}
      </p>
      <Noise machine={machine} />
      {spoils.length > 0 && (
        <p class="spoils">
          May spoil results:{" "}
          {spoils.map(({ name, value }) => `${name} (${value.replace(/^\w+: /, "")})`).join(", ")}.
        </p>
      )}
      <details class="recorded">
        <summary>{count(machine.facts.length, "fact")} recorded last</summary>
        <Facts facts={machine.facts} />
      </details>
    </section>
  );
}

function Machines({ machines }: MachinesDocument) {
  useLayoutEffect(() => {
    showPlace();
  }, [machines]);
  if (machines.length === 0) return <p class="lead">There are no experiments yet.</p>;
  return (
    <>
      {machines.map((machine) => (
        <Machine key={machine.key} machine={machine} />
      ))}
    </>
  );
}

export function MachinesPage() {
  const got = useDocument(
    "api/v1/machines.json",
    parseDocument<MachinesDocument>,
    "There is no list of machines here.",
  );
  return (
    <>
      <Title name="Machines" />
      <Loaded got={got}>{(all) => <Machines {...all} />}</Loaded>
    </>
  );
}
