/** Parts shared by several views: choosers, scrolling containers, lists of remarks. */

import type { ComponentChildren } from "preact";

interface SelectProps<V extends string | number> {
  label?: string;
  /** What it chooses, for those who do not see it. */
  name: string;
  /** Its `data-control`. */
  control: string;
  value: V;
  options: [V, string][];
  onChange: (value: V) => void;
}

/** A chooser of one value among several. */
export function Select<V extends string | number>(props: SelectProps<V>) {
  const choose = (index: number): void => {
    const option = props.options[index];
    if (option) props.onChange(option[0]);
  };
  return (
    <label class="pick">
      {props.label !== undefined && `${props.label} `}
      <select
        aria-label={props.name}
        data-control={props.control}
        value={props.value}
        onChange={(event) => choose(event.currentTarget.selectedIndex)}>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A container that scrolls when its content is too wide. */
export function Scroll({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scroll" tabIndex={0} aria-label={name}>
      {children}
    </section>
  );
}

/** Headings of columns, each with its class. */
export function Heads({ of }: { of: [heading: ComponentChildren, style?: string | undefined][] }) {
  return (
    <>
      {of.map(([heading, style]) => (
        <th scope="col" class={style}>
          {heading}
        </th>
      ))}
    </>
  );
}

/** Remarks, one per line; nothing where there are none. */
export function Remarks({ lines, strong }: { lines: ComponentChildren[]; strong?: boolean }) {
  if (lines.length === 0) return null;
  return (
    <ul class={strong ? "legend strong" : "legend"}>
      {lines.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

/** A name that may break after its dots, dashes and underscores, and copies without the breaks. */
export function Breakable({ name }: { name: string }) {
  const [first, ...rest] = name.split(/(?<=[._/-])/);
  return (
    <>
      {first}
      {rest.flatMap((part) => [<wbr />, part])}
    </>
  );
}
