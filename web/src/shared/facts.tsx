/** Facts about a host, by group. */

import "./style/facts.css";
import type { PageFact } from "#page";
import { Breakable } from "./controls";
import { grouped } from "./group";

export function Facts({ facts }: { facts: PageFact[] }) {
  return (
    <div class="host">
      {grouped(facts, ({ group }) => group).map(([group, those]) => (
        <div key={group} class="host-group">
          <h3>{group}</h3>
          <dl>
            {those.map(({ name, value }) => (
              <div key={name}>
                <dt>
                  <Breakable name={name} />
                </dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </div>
  );
}
