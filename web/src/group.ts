/** What the plots of one step share: which variants are shown, the seconds in view, the cursor. */

/** Anything that draws variants and can be told to do it again. */
export interface Drawing {
  /** Name of the plot, as in its `data-plot`. */
  readonly id: string;
  /** What is drawn, for tests and for the curious at the console. */
  inspect(): Inspection;
  /** Called when a variant was hidden, shown or put in focus, or the theme changed. */
  restyle(): void;
  /** Called with the width that is there now, in CSS pixels. */
  resize(width: number): void;
  destroy(): void;
}

/** A drawing on the shared axis of seconds. */
export interface TimeDrawing extends Drawing {
  showRange(min: number, max: number): void;
  showCursor(second: number | null): void;
}

export interface Inspection {
  plot: string;
  /** The x-range in view, in units of the axis. */
  x: [number, number];
  series: { name: string; block: number | null; visible: boolean; points: number }[];
}

/** The shared state of one step's plots. */
export class PlotGroup {
  readonly hidden = new Set<number>();
  focus: number | null = null;
  cursor: number | null = null;
  /** Whether y axes start at zero, or close to the lowest value in view. */
  fromZero = true;
  range: [number, number];
  private readonly drawings = new Set<Drawing>();
  private readonly timed = new Set<TimeDrawing>();
  private readonly listeners = new Set<() => void>();

  /** `length` is the number of seconds on the axis. */
  constructor(readonly length: number) {
    this.range = this.full();
  }

  /** The whole axis. */
  full(): [number, number] {
    return this.length > 1 ? [0, this.length - 1] : [-0.5, 0.5];
  }

  /** True if less than the whole axis is in view. */
  zoomed(): boolean {
    const [min, max] = this.full();
    return this.range[0] > min || this.range[1] < max;
  }

  addTimed(drawing: TimeDrawing): void {
    this.timed.add(drawing);
    this.add(drawing);
  }

  add(drawing: Drawing): void {
    this.drawings.add(drawing);
  }

  remove(drawing: Drawing): void {
    this.drawings.delete(drawing);
    this.timed.delete(drawing as TimeDrawing);
  }

  all(): Drawing[] {
    return [...this.drawings];
  }

  /** Calls `listener` when the range changed. */
  onRange(listener: () => void): void {
    this.listeners.add(listener);
  }

  /** Brings a range into view in every plot over time; cut to the axis. */
  setRange(min: number, max: number): void {
    const [first, last] = this.full();
    const low = Math.max(first, Math.min(min, max));
    const high = Math.min(last, Math.max(min, max));
    if (!(high > low) || (low === this.range[0] && high === this.range[1])) return;
    this.range = [low, high];
    for (const drawing of this.timed) drawing.showRange(low, high);
    for (const listener of this.listeners) listener();
  }

  /** Zooms by a factor about the cursor, or about the middle. */
  zoom(factor: number): void {
    const [low, high] = this.range;
    const centre = this.cursor !== null && this.cursor >= low && this.cursor <= high ? this.cursor : (low + high) / 2;
    const width = Math.max(2, (high - low) * factor);
    const share = (centre - low) / (high - low);
    this.setRange(centre - width * share, centre + width * (1 - share));
  }

  /** Shows everything again. */
  reset(): void {
    this.setRange(...this.full());
  }

  /** Moves the cursor in every plot over time. */
  setCursor(second: number | null): void {
    if (second === this.cursor) return;
    this.cursor = second;
    for (const drawing of this.timed) drawing.showCursor(second);
  }

  /** Hides or shows a variant in every plot of the step. */
  toggle(variant: number): void {
    if (!this.hidden.delete(variant)) this.hidden.add(variant);
    this.restyle();
  }

  /** Puts one variant before the others, or none. */
  setFocus(variant: number | null): void {
    if (this.focus === variant) return;
    this.focus = variant;
    this.restyle();
  }

  /** Lets y axes start at zero, or fit what is in view. */
  setFromZero(fromZero: boolean): void {
    this.fromZero = fromZero;
    for (const drawing of this.timed) drawing.showRange(...this.range);
  }

  restyle(): void {
    for (const drawing of this.drawings) drawing.restyle();
  }

  resize(width: number): void {
    for (const drawing of this.drawings) drawing.resize(width);
  }
}
