/** What the plots of a sweep share. */

import { useState } from "preact/hooks";
import { useZoom, type ZoomView } from "../../shared/zoom";

export interface SweepView extends ZoomView {
  /** Places of the lines that are not shown. */
  hidden: ReadonlySet<number>;
  /** The line drawn in front of the others. */
  focus: number | null;
  fromZero: boolean;
  /** Whether the numbers of clients are on a logarithmic axis. */
  log: boolean;
  toggle: (place: number) => void;
  setFocus: (place: number | null) => void;
  setFromZero: (fromZero: boolean) => void;
  setLog: (log: boolean) => void;
}

/** The view of a sweep over these numbers of clients, ascending. */
export function useSweepView(clients: number[]): SweepView {
  const zoom = useZoom([clients[0] ?? 0, clients[clients.length - 1] ?? 1]);
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const [focus, setFocus] = useState<number | null>(null);
  const [fromZero, setFromZero] = useState(true);
  const [log, setLog] = useState(false);
  return {
    ...zoom,
    hidden,
    focus,
    fromZero,
    log,
    setFocus,
    setFromZero,
    setLog,
    toggle: (place) => {
      const next = new Set(hidden);
      if (!next.delete(place)) next.add(place);
      setHidden(next);
    },
  };
}
