/** One floating note for the whole page. It never takes the pointer or the focus. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface Tip {
  content: ComponentChildren;
  /** Where it may stand: right of `left`, or left of `or`; under `bottom` or over `top`. */
  left: number;
  or?: number;
  top: number;
  bottom: number;
}

let show: (tip: Tip | null) => void = () => undefined;

/** Shows a note under (or over) an element, from where its chart begins. */
export function showTip(beside: Element, content: ComponentChildren): void {
  const { top, bottom, left } = beside.getBoundingClientRect();
  const chart = beside.querySelector(".plot")?.getBoundingClientRect();
  show({ content, left: chart?.left ?? left, top: top - 6, bottom: bottom + 6 });
}

/** Shows a note next to a point in the window. */
export function showTipAt(x: number, y: number, content: ComponentChildren): void {
  show({ content, left: x + 16, or: x - 16, top: y - 18, bottom: y - 6 });
}

/** Hides the note. */
export function hideTip(): void {
  show(null);
}

/** The note; appears once in the page. */
export function TipBox() {
  const [tip, setTip] = useState<Tip | null>(null);
  const ref = useRef<HTMLDivElement>(null);
  show = setTip;
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box || !tip) return;
    const { offsetWidth: width, offsetHeight: height } = box;
    const view = document.documentElement.clientWidth;
    const wanted = tip.or === undefined || tip.left + width < view ? tip.left : tip.or - width;
    const x = Math.min(Math.max(6, wanted), Math.max(6, view - width - 6));
    const y = tip.bottom + height + 2 < window.innerHeight ? tip.bottom : tip.top - height;
    box.style.transform = `translate(${Math.round(x)}px, ${Math.round(Math.max(4, y))}px)`;
  }, [tip]);
  return (
    <div class="tip" role="status" aria-live="off" hidden={tip === null} ref={ref}>
      {tip?.content}
    </div>
  );
}

/** A note about several things: a heading and a line of figures for each. */
export function TipTable(props: {
  title: string;
  about?: string;
  rows: [ComponentChildren, ...(string | null)[]][];
}) {
  return (
    <>
      <div class="tip-title">
        {props.title}
        {props.about !== undefined && <span class="minor"> · {props.about}</span>}
      </div>
      <table>
        <tbody>
          {props.rows.map(([name, ...figures]) => (
            <tr>
              <th scope="row">{name}</th>
              {figures.map((figure) => figure !== null && <td>{figure}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
