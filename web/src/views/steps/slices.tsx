/** The panel of a step that ran in slices: rates per round and the resulting ratio. */

import type { PageSlices, PageStep } from "#page";
import { Remarks } from "../../shared/controls";
import { usePage } from "../../shared/page";
import { Marked } from "../../shared/variant";
import { count, grouped, short } from "../../text/format";
import { RunningRatio } from "./running";
import { asideByReason } from "./slicedata";
import { MARKS, SliceRates } from "./slicerates";
import type { PlotView } from "./view";

/** What marks and points mean. */
function Captions({ step, slices }: { step: PageStep; slices: PageSlices }) {
  const page = usePage();
  const { restarts, rounds_per_point: each, shorter, length_ms: length } = slices;
  const rounds = restarts.reduce((sum, restart) => sum + restart.rounds, 0);
  const reasons = [...asideByReason(slices)].map(([reason, variants]) => (
    <>
      <span class="mark">{MARKS[reason]}</span> {page.slice_reasons[reason]}. Slices:
      {[...variants].map(([variant, many]) => (
        <span class="value">
          <Marked variant={variant} /> {grouped(many)}
        </span>
      ))}
    </>
  ));
  return (
    <>
      <p class="note">
        {count(rounds, "round")} in {count(restarts.length, "restart")} of the servers: in each,
        every variant has the load for a slice of {short(length)} ms or more. The axis counts the
        seconds in which each had it.{" "}
        {each === 1
          ? "Dots: single slices"
          : `To keep this file small, a dot is the median of ${each} neighboring rounds, and ` +
            "its line spans the lowest to the highest; every slice counts"}
        . Bars: the median of each restart. {reasons.length === 0 && "No slice was set aside. "}
        {shorter > 0 &&
          `Not shown: ${count(shorter, "round")} of shorter slices, used only to find the ` +
            "length. "}
        {step.trials.length > 0
          ? "Below, per second: the blocks that did not run in slices."
          : "Nothing is plotted per second because all variants shared each second."}
      </p>
      <div class="aside">
        <Remarks lines={reasons} />
      </div>
    </>
  );
}

export function Slices(props: { step: PageStep; slices: PageSlices; view: PlotView }) {
  return (
    <div class="slices">
      <SliceRates {...props} />
      <Captions step={props.step} slices={props.slices} />
      {props.slices.running.length > 0 && <RunningRatio {...props} />}
    </div>
  );
}
