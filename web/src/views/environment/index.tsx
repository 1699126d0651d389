/** The recorded environment: host, variants side by side, the plan as it was run. */

import "./environment.css";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Breakable, Heads, Scroll } from "../../shared/controls";
import { CopyButton } from "../../shared/copy";
import { Facts } from "../../shared/facts";
import { grouped } from "../../shared/group";
import { usePage, type View } from "../../shared/page";
import { Named } from "../../shared/variant";
import { count, NOTHING } from "../../text/format";
import { type SideRow, sideBySide } from "./sides";

function Host() {
  const { host } = usePage();
  if (host.length === 0) return <p class="note">Nothing was recorded about the host.</p>;
  return <Facts facts={host} />;
}

function Line({ row: { name, values, fallback, differs } }: { row: SideRow }) {
  return (
    <tr data-differs={differs || undefined}>
      <th scope="row">
        {differs && (
          <span class="differs" title="differs between variants">
            ≠<span class="offscreen"> differs: </span>
          </span>
        )}
        <Breakable name={name} />
      </th>
      {values.map((value) => (
        <td class="label">{value ?? NOTHING}</td>
      ))}
      <td class="label minor">{fallback}</td>
    </tr>
  );
}

function Variants() {
  const { variants } = usePage();
  const [only, setOnly] = useState(false);
  const rows = sideBySide(variants);
  const names = variants.map((_, variant): [ComponentChildren, string] => [
    <Named variant={variant} />,
    "label",
  ]);
  const differing = rows.filter(({ differs }) => differs);
  return (
    <div>
      <div class="bar">
        <h3>Variants</h3>
        {variants.length > 1 && (
          <label class="pick">
            <input
              type="checkbox"
              id="only-differences"
              checked={only}
              onChange={(event) => setOnly(event.currentTarget.checked)}
            />{" "}
            only what differs ({count(differing.length, "line")})
          </label>
        )}
      </div>
      <Scroll name="Variants side by side">
        <table class="data side">
          <thead>
            <tr>
              <Heads of={[["Name", "label"], ...names, ["default", "label minor"]]} />
            </tr>
          </thead>
          {grouped(only ? differing : rows, ({ group }) => group).map(([group, lines]) => (
            <tbody>
              <tr class="group">
                <th scope="rowgroup" colSpan={variants.length + 2}>
                  <span>{group}</span>
                </th>
              </tr>
              {lines.map((row) => (
                <Line row={row} />
              ))}
            </tbody>
          ))}
        </table>
      </Scroll>
      <p class="note">
        Server settings that are not at their default or differ between variants.{" "}
        <span class="differs">≠</span> differs between variants; – the variant does not have it.
      </p>
    </div>
  );
}

function Environment() {
  const { variants, experiment } = usePage();
  const { plan, seed } = experiment;
  return (
    <>
      <Host />
      {variants.length > 0 && <Variants />}
      {plan !== "" && (
        <div>
          <div class="bar">
            <h3>Plan</h3>
            <CopyButton label="copy" name="Copy the plan" text={() => plan} />
          </div>
          <Scroll name="The plan">
            <pre class="plan">{plan}</pre>
          </Scroll>
        </div>
      )}
      <p class="note">Seed {seed}.</p>
    </>
  );
}

export const environment: View = {
  id: "environment",
  name: "Environment",
  title: () => "Environment",
  applies: () => true,
  Body: Environment,
};
