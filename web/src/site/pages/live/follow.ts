/** Following the runs under way: the service tells of changes; nothing polls. */

import { useEffect, useState } from "preact/hooks";
import type { LiveDocument, LiveRun } from "#page";

/** After so many milliseconds, a loss is told, and a service that refused is asked again. */
const AGAIN = 5000;

/** What is known of the runs, and whether the service still tells. */
export interface Followed {
  runs: LiveRun[];
  /** Those that were seen under way and have ended since, the latest first. */
  ended: LiveRun[];
  connected: boolean;
  /** Plans that can be started; null if none can. */
  plans: string[] | null;
}

/** The same for two that tell of the same run. */
export function keyOf({ machine, process, began_ms }: LiveRun): string {
  return `${process} ${began_ms} ${machine ?? ""}`;
}

/** What is known once the service has told of these runs. */
export function told(before: Followed, { runs, plans }: LiveDocument): Followed {
  const present = new Set(runs.map(keyOf));
  // One that reports from another machine may come back.
  const ended = [...before.runs, ...before.ended].filter((run) => !present.has(keyOf(run)));
  return { runs, ended, connected: true, plans };
}

/** Follows the runs from what a document says of them, if the service tells more. */
export function useLive({ service, runs, plans }: LiveDocument): Followed {
  const first = { runs, ended: [], connected: true, plans };
  const [followed, setFollowed] = useState<Followed>(first);
  useEffect(() => {
    if (!service) return;
    let source: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    const lost = (): void => setFollowed((before) => ({ ...before, connected: false }));
    const close = (): void => {
      clearTimeout(again);
      source?.close();
      source = null;
    };
    const open = (): void => {
      close();
      // A browser has few connections, which other tabs need.
      if (document.hidden) return;
      source = new EventSource("api/v1/live");
      source.onmessage = (event: MessageEvent<string>) => {
        const live = JSON.parse(event.data) as LiveDocument;
        setFollowed((before) => told(before, live));
      };
      source.onerror = () => {
        // After a refusal, as of a proxy, the browser does not try again by itself.
        const refused = source?.readyState === EventSource.CLOSED;
        clearTimeout(again);
        // A connection that ends in time comes back at once.
        again = setTimeout(() => {
          if (source?.readyState !== EventSource.OPEN) lost();
          if (refused) open();
        }, AGAIN);
      };
    };
    open();
    document.addEventListener("visibilitychange", open);
    return () => {
      document.removeEventListener("visibilitychange", open);
      close();
    };
  }, [service]);
  return followed;
}

/** The time in milliseconds, each second while something is `running`. */
export function useNow(running: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

/** A time such as `2m05s`; none that a clock of another machine would make negative. */
export function lasted(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, "0");
  if (hours > 0) return `${hours}h${two(minutes)}m`;
  return minutes > 0 ? `${minutes}m${two(seconds % 60)}s` : `${seconds}s`;
}
