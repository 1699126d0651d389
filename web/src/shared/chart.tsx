/** A uPlot canvas as a component: axes in the page's ink, as wide as its container, redrawn when
 * the theme changes, with a note at the pointer. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { AXIS_FONT, ink } from "./ink";
import { onTheme } from "./theme";
import { hideTip, showTipAt } from "./tip";

/** Width of every y axis, so that plots under each other share their seconds. */
const Y_AXIS = 54;
/** Height of an x axis with names. */
export const X_AXIS = 26;

/** What plots draw at this moment, for tests and for the console. */
const drawn = {
  plots: new Set<() => object>(),
  history: new Set<() => object>(),
  sweeps: new Set<() => object>(),
};

/** What the plots of one kind draw. */
export function inspected(kind: keyof typeof drawn): object[] {
  return [...drawn[kind]].map((inspect) => inspect());
}

export type ChartOptions = Pick<
  uPlot.Options,
  "cursor" | "hooks" | "padding" | "scales" | "series"
> & { x: uPlot.Axis; y: uPlot.Axis };

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  label: string;
  height: number;
  data: uPlot.AlignedData;
  /** Read once. */
  options: () => ChartOptions;
  /** Updates the plot when `state` changes. */
  update?: (plot: uPlot) => void;
  state?: unknown[];
  /** The point that the cursor of this and other plots is on. */
  cursor?: number | null;
  /** The reader's pointer moved to another point, or left. */
  onCursor?: (index: number | null) => void;
  tip: (index: number) => ComponentChildren;
  /** Keys and double clicks, where it answers to such. */
  onKey?: (event: KeyboardEvent) => void;
  onReset?: () => void;
  /** The reader clicks a point. */
  onPick?: ((index: number) => void) | undefined;
  kind: keyof typeof drawn;
  inspect: (plot: uPlot) => object;
}

/** Both axes as all plots have them. */
function axes({ x, y }: ChartOptions): uPlot.Axis[] {
  const grid = { stroke: () => ink("grid"), width: 1 };
  const both = { stroke: () => ink("axis"), font: AXIS_FONT, ticks: { show: false }, gap: 6 };
  return [
    { ...both, size: X_AXIS, ...x, grid: { ...grid, ...x.grid } },
    { ...both, size: Y_AXIS, ...y, grid: { ...grid, ...y.grid } },
  ];
}

export function Chart(props: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(props);
  now.current = props;

  const leave = (): void => {
    hideTip();
    now.current.onCursor?.(null);
  };

  useLayoutEffect(() => {
    const room = holder.current;
    if (!room) return;
    const { height, data, kind } = now.current;
    const options = now.current.options();
    const point = (u: uPlot): void => {
      const { event, idx, left } = u.cursor;
      if (!event) return;
      if (idx === null || idx === undefined || (left ?? -1) < 0) {
        leave();
        return;
      }
      now.current.onCursor?.(idx);
      showTipAt(event.clientX, event.clientY, now.current.tip(idx));
    };
    const made = new uPlot(
      {
        ...options,
        width: room.clientWidth,
        height,
        legend: { show: false },
        cursor: { y: false, ...options.cursor },
        axes: axes(options),
        hooks: { ...options.hooks, setCursor: [point] },
      },
      data,
      room,
    );
    plot.current = made;
    const inspect = (): object => now.current.inspect(made);
    drawn[kind].add(inspect);
    made.over.addEventListener("dblclick", () => now.current.onReset?.());
    made.over.addEventListener("click", () => {
      const { idx } = made.cursor;
      if (idx !== null && idx !== undefined) now.current.onPick?.(idx);
    });
    if (now.current.onPick) made.over.style.cursor = "pointer";
    const observer = new ResizeObserver(() => {
      const width = room.clientWidth;
      if (width > 0 && width !== made.width) made.setSize({ width, height: made.height });
    });
    observer.observe(room);
    const stop = onTheme(() => made.batch(() => made.redraw(false)));
    return () => {
      drawn[kind].delete(inspect);
      observer.disconnect();
      stop();
      made.destroy();
    };
  }, []);

  useLayoutEffect(() => {
    plot.current?.batch((u: uPlot) => now.current.update?.(u));
  }, props.state ?? []);

  useLayoutEffect(() => {
    const { cursor } = props;
    if (!plot.current || cursor === undefined) return;
    const at =
      cursor === null
        ? { left: -10, top: -10 }
        : { left: plot.current.valToPos(cursor, "x"), top: 0 };
    plot.current.setCursor(at, false);
  }, [props.cursor]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it has one of two roles.
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both have a label.
    <div
      class="canvas"
      ref={holder}
      role={props.onKey ? "group" : "img"}
      tabIndex={props.onKey ? 0 : undefined}
      onKeyDown={props.onKey}
      aria-label={props.label}
      onMouseLeave={leave}
      onBlur={leave}
    />
  );
}
