/** A statement that a variant executes by another plan: both plans beside each other. */

import type { PagePlan } from "#page";
import { baseIndex, variantName } from "../../data/page";
import { Scroll } from "../../shared/controls";
import { usePage } from "../../shared/page";
import { Marked } from "../../shared/variant";
import { marked, type PlanLine } from "./plandiff";

function Side(props: { variant: number; plans: PlanLine[][] }) {
  const page = usePage();
  const name = `Plan of ${variantName(page, props.variant)}`;
  return (
    <div>
      <Marked variant={props.variant} />
      {props.plans.map((lines, number) => (
        <Scroll name={props.plans.length > 1 ? `${name}, ${number + 1}` : name}>
          <pre>
            {lines.map(({ text, differs }) => (
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

export function Plans({ plan: { variant, statement, base, own } }: { plan: PagePlan }) {
  const page = usePage();
  const sides = [
    base.map((plan) => marked(plan, own)),
    own.map((plan) => marked(plan, base)),
  ] as const;
  const none = !sides.flat(2).some(({ differs }) => differs);
  return (
    <figure class="plans">
      <figcaption>
        <code>{statement}</code>
        {none && <p class="note">The same lines in another order, or with other numbers.</p>}
      </figcaption>
      <div class="sides">
        <Side variant={baseIndex(page)} plans={sides[0]} />
        <Side variant={variant} plans={sides[1]} />
      </div>
    </figure>
  );
}
