/**
 * The activity of interfaces, passed to each link separately.
 *
 * A link is notified only of changes that alter how it looks: so 200 links with
 * ten updates a second stay smooth.
 */

import { useCallback, useRef, useSyncExternalStore } from "react";
import type { InterfaceActivity } from "../timeline/moments";

/** What a full bar is where no queue's size is known, in bytes. */
const USUAL_LIMIT_BYTES = 10 * 2 ** 20;

export class ActivityFeed {
  #now: ReadonlyMap<string, InterfaceActivity> = new Map();
  #listeners = new Set<() => void>();
  #largestLimit_bytes = USUAL_LIMIT_BYTES;

  publish(now: ReadonlyMap<string, InterfaceActivity>): void {
    if (now === this.#now) return;
    this.#now = now;
    let largest = 0;
    for (const { limit_bytes } of now.values()) largest = Math.max(largest, limit_bytes ?? 0);
    this.#largestLimit_bytes = largest || USUAL_LIMIT_BYTES;
    for (const listener of this.#listeners) listener();
  }

  of(name: string): InterfaceActivity | null {
    return this.#now.get(name) ?? null;
  }

  /** The largest queue whose size is known, as the scale of the others. Cached: each direction of each link reads it. */
  get largestLimit_bytes(): number {
    return this.#largestLimit_bytes;
  }

  listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** The appearance of a direction of a link now, quantised. */
export interface Look {
  /** 0 to 10, relative to the rate that its qdiscs allow; without a limit, to one terabit per second. */
  load: number;
  /** Whether a qdisc limits the rate. */
  limited: boolean;
  /** 0 to 20. */
  fill: number;
  drops: number;
  rate: string;
}

/** The size that a queue bar shows as full for a queue without a known limit. */
export interface Scale {
  queue_bytes: number;
}

export function lookOf(activity: InterfaceActivity, { queue_bytes }: Scale, spell: (rate_bps: number) => string): Look {
  const { tx_bps, rate_bps } = activity;
  const share = rate_bps === null ? Math.log10(Math.max(10, tx_bps)) / 12 : tx_bps / rate_bps;
  const load = tx_bps < 1 ? 0 : Math.max(1, Math.min(10, Math.round(share * 10)));
  const limit = activity.limit_bytes ?? queue_bytes;
  const fill = activity.backlog_bytes <= 0 ? 0 : Math.max(1, Math.min(20, Math.round((activity.backlog_bytes / limit) * 20)));
  return { load, limited: rate_bps !== null, fill, drops: activity.recent_drops, rate: tx_bps < 1 ? "" : spell(tx_bps) };
}

/** The look of an interface's sending side; null while no traffic runs there. */
export function useLook(feed: ActivityFeed, name: string, spell: (rate_bps: number) => string): Look | null {
  const last = useRef<Look | null>(null);
  const snapshot = useCallback(() => {
    const activity = feed.of(name);
    const look = activity === null ? null : lookOf(activity, { queue_bytes: feed.largestLimit_bytes }, spell);
    if (!sameLook(look, last.current)) last.current = look;
    return last.current;
  }, [feed, name, spell]);
  return useSyncExternalStore(feed.listen, snapshot);
}

function sameLook(one: Look | null, other: Look | null): boolean {
  if (one === null || other === null) return one === other;
  return one.load === other.load && one.limited === other.limited && one.fill === other.fill && one.drops === other.drops && one.rate === other.rate;
}
