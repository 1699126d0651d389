/** A statement that a variant executes by another plan: both plans beside each other. */

import type { PagePlan } from "#page";
import { baseIndex, variantName } from "../../data/page";
import { Scroll } from "../../shared/controls";
import { usePage } from "../../shared/page";
import { Marked } from "../../shared/variant";
import { marked } from "./plandiff";

function Side(props: { variant: number; plans: string[]; others: string[] }) {
  const page = usePage();
  const others = props.others.join("\n");
  return (
    <div>
      <Marked variant={props.variant} />
      {props.plans.map((plan) => (
        <Scroll name={`Plan of ${variantName(page, props.variant)}`}>
          <pre>
            {marked(plan, others).map(({ text, differs }) => (
              <>
                {differs ? <mark>{text}</mark> : text}
                {"\n"}
              </>
            ))}
          </pre>
        </Scroll>
      ))}
    </div>
  );
}

export function Plans({ plan }: { plan: PagePlan }) {
  const page = usePage();
  return (
    <figure class="plans">
      <figcaption>
        <code>{plan.statement}</code>
      </figcaption>
      <div class="sides">
        <Side variant={baseIndex(page)} plans={plan.base} others={plan.own} />
        <Side variant={plan.variant} plans={plan.own} others={plan.base} />
      </div>
    </figure>
  );
}
