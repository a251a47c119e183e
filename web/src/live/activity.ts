/** The current activity of interfaces, for the canvas. */

import { useEffect, useState } from "react";

import { chartViewOf } from "../charts/view";
import { activityAt, type InterfaceActivity } from "../timeline/moments";
import { useLive } from "./store";
import { latestOf, type SessionView } from "./view";

type Activity = ReadonlyMap<string, InterfaceActivity>;

const NOTHING: Activity = new Map();
const EVERY_MS = 100;
/** With more interfaces than this, updates are less frequent: drawing hundreds of labels takes a while. */
const MANY = 150;
const EVERY_OF_MANY_MS = 250;

/** By the interface's name; empty if no network runs. While time is held, the activity is that of the moment. */
export function useActivity(sessionId: string | null): Activity {
  // Only these parts of the view are subscribed to: the canvas is not re-rendered with each tick of the clock.
  const going = useLive((state) => {
    const view = sessionId === null ? undefined : state.sessions[sessionId];
    // A recording can be viewed afterwards.
    return view !== undefined && (view.link === "ended" || (view.clock !== null && (view.clock.state !== "idle" || view.recordings.length > 0)));
  });
  const [activity, setActivity] = useState<Activity>(NOTHING);

  useEffect(() => {
    if (sessionId === null || !going) {
      setActivity(NOTHING);
      return undefined;
    }
    let size = 0;
    const look = () => {
      const view = useLive.getState().sessions[sessionId];
      const next = view === undefined ? NOTHING : activityOf(view, performance.now());
      size = next.size;
      setActivity((last) => (isSame(last, next) ? last : next));
    };
    let timer: ReturnType<typeof setTimeout>;
    const lookAgain = () => {
      look();
      timer = setTimeout(lookAgain, size > MANY ? EVERY_OF_MANY_MS : EVERY_MS);
    };
    lookAgain();
    // Updates are immediate while the slider is dragged.
    const seriesStore = useLive.getState().sessions[sessionId]?.seriesStore;
    const stop = seriesStore === undefined ? undefined : chartViewOf(seriesStore).store.subscribe((now, last) => now.at !== last.at && look());
    return () => {
      clearTimeout(timer);
      stop?.();
    };
  }, [sessionId, going]);

  return activity;
}

/** The last samples of the latest recording, by interface. */
export function activityOf(view: SessionView, nowMs: number): Activity {
  const recording = latestOf(view);
  if (recording === null) return NOTHING;
  const { at } = chartViewOf(view.seriesStore).store.getState();
  if (at !== null) return activityAt(recording, view.seriesStore, at);
  if (view.link === "ended" || view.clock?.state === "idle") return NOTHING;
  const found = new Map<string, InterfaceActivity>();
  for (const { key, kind, of, quantity, limit } of recording.series) {
    if (kind !== "queue" && kind !== "rate") continue;
    const one = found.get(of) ?? { tx_bps: 0, rate_bps: null, backlog_bytes: 0, limit_bytes: null, recent_drops: 0 };
    found.set(of, one);
    const last = view.seriesStore.get(recording.number, key)?.last ?? 0;
    if (quantity === "tx_bps") {
      one.tx_bps = last;
      one.rate_bps = limit;
    } else if (quantity === "backlog_bytes") {
      one.backlog_bytes = last;
      one.limit_bytes = limit;
    } else if (quantity === "drops") one.recent_drops = view.seriesStore.recentDrops(key, nowMs);
  }
  return found;
}

function isSame(one: Activity, other: Activity): boolean {
  if (one.size !== other.size) return false;
  for (const [name, a] of one) {
    const b = other.get(name);
    if (b === undefined || a.tx_bps !== b.tx_bps || a.rate_bps !== b.rate_bps || a.backlog_bytes !== b.backlog_bytes) return false;
    if (a.limit_bytes !== b.limit_bytes || a.recent_drops !== b.recent_drops) return false;
  }
  return true;
}
