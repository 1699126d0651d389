/** Adding a note to an experiment: a difference is expected, a bug, fixed, or noise. */

import { useState } from "preact/hooks";
import type { LiveDocument, Page } from "#page";
import { parseDocument, useDocument } from "../../documents";
import { TokenForm } from "../../token";

const KINDS = ["expected", "bug", "fixed", "noise", "withdrawn"];

interface ChoiceProps {
  name: string;
  of: string[];
  all?: string;
  value: string;
  onChange: (value: string) => void;
}

function Choice({ name, of, all, value, onChange }: ChoiceProps) {
  return (
    <label>
      {name}{" "}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {all !== undefined && <option value="">{all}</option>}
        {of.map((it) => (
          <option key={it} value={it}>
            {it}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The form, where a service takes notes. */
export function AddNote({ page, id, onAdded }: { page: Page; id: number; onAdded: () => void }) {
  const live = useDocument("api/v1/live.json", parseDocument<LiveDocument>, "");
  const [kind, setKind] = useState("expected");
  const [text, setText] = useState("");
  const [step, setStep] = useState("");
  const [variant, setVariant] = useState("");
  if (live === null || !("document" in live) || !live.document.service) return null;
  const steps = [...new Set(page.steps.map(({ name }) => name))];
  const body = { kind, text, ...(step !== "" && { step }), ...(variant !== "" && { variant }) };
  const path = `api/v1/experiments/${id}/notes`;
  return (
    <TokenForm name="add a note" verb="Add" path={path} body={body} onGranted={onAdded}>
      <Choice name="It is" of={KINDS} value={kind} onChange={setKind} />
      <Choice name="Step" of={steps} all="all" value={step} onChange={setStep} />
      <Choice
        name="Variant"
        of={page.variants.map(({ name }) => name)}
        all="all"
        value={variant}
        onChange={setVariant}
      />
      <label>
        Text{" "}
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
    </TokenForm>
  );
}
