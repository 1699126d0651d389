/** What plots under each other share: the part of the x axis in view, and the cursor. */

import { useState } from "preact/hooks";
import type uPlot from "uplot";

export type Range = [number, number];

export interface ZoomView {
  /** The whole axis, and what is in view of it. */
  full: Range;
  range: Range;
  zoomed: boolean;
  /** Where the cursor is on the axis. */
  cursor: number | null;
  /** Brings a range into view, cut to the axis. */
  setRange: (low: number, high: number) => void;
  /** Zooms by a factor about the cursor, or about the middle. */
  zoom: (factor: number) => void;
  reset: () => void;
  setCursor: (at: number | null) => void;
}

/** The view of an axis. */
export function useZoom(full: Range): ZoomView {
  const [range, keepRange] = useState(full);
  const [cursor, setCursor] = useState<number | null>(null);
  const [low, high] = range;
  const setRange = (from: number, to: number): void => {
    const cut: Range = [
      Math.max(full[0], Math.min(from, to)),
      Math.min(full[1], Math.max(from, to)),
    ];
    if (cut[1] > cut[0]) keepRange(cut);
  };
  return {
    full,
    range,
    zoomed: low > full[0] || high < full[1],
    cursor,
    setRange,
    setCursor,
    reset: () => setRange(...full),
    zoom: (factor) => {
      const inView = cursor !== null && cursor >= low && cursor <= high;
      const centre = inView ? cursor : (low + high) / 2;
      const width = Math.max(2, (high - low) * factor);
      const share = (centre - low) / (high - low);
      setRange(centre - width * share, centre + width * (1 - share));
    },
  };
}

/** What keys do in plots, for those who do not see it. */
export const ZOOM_KEYS = "Arrow keys move the cursor, plus and minus zoom, 0 shows everything.";

/** What keys do to plots; `move` takes the cursor to the left or to the right. */
export function zoomByKey(
  view: ZoomView,
  event: KeyboardEvent,
  move: (direction: -1 | 1) => void,
): void {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => move(-1),
    ArrowRight: () => move(1),
    "+": () => view.zoom(0.5),
    "=": () => view.zoom(0.5),
    "-": () => view.zoom(2),
    "0": view.reset,
    Escape: view.reset,
  };
  const action = actions[event.key];
  if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
}

/** Brings a dragged range into view: a hook of uPlot. */
export function dragged(view: () => ZoomView): (u: uPlot) => void {
  return (u) => {
    const { left, width } = u.select;
    if (width <= 0) return;
    view().setRange(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  };
}

/** What is in view, and zoom for fingers, which cannot drag a range. */
export function ZoomBar({ view, words }: { view: ZoomView; words: string }) {
  const [low, high] = view.range.map(Math.round);
  return (
    <>
      <span class="touch-zoom chips">
        <button
          type="button"
          class="chip"
          aria-label="Zoom in about the cursor"
          onClick={() => view.zoom(0.5)}>
          +
        </button>
        <button type="button" class="chip" aria-label="Zoom out" onClick={() => view.zoom(2)}>
          −
        </button>
      </span>
      <span class="zoom" aria-live="polite">
        {view.zoomed ? (
          <>
            {words} {low} to {high}{" "}
            <button type="button" class="quiet" onClick={view.reset}>
              show all
            </button>
          </>
        ) : (
          <span class="minor drag-hint">drag to zoom, double-click to reset</span>
        )}
      </span>
    </>
  );
}
