/** The list's row nearest to the time hovered in the charts. */

import { useEffect, useState } from "react";
import { useStore } from "zustand";

import { hoveredInCharts, type ChartView } from "../charts/view";
import type { PacketRows } from "./capture";

/** How long the pointer must rest before the list scrolls, to avoid constant scrolling. */
const REST_MS = 250;

/**
 * Marks the nearest row at once if it is loaded, and scrolls to it when the pointer rests.
 *
 * @param revision - grows when rows have arrived.
 * @param reveal - scrolls to a row.
 */
export function useNearRow(rows: PacketRows, revision: number, view: ChartView, reveal: (row: number) => void): number | null {
  const charted_s = useStore(view.store, hoveredInCharts);
  const [near, setNear] = useState<number | null>(null);
  useEffect(() => {
    const found = charted_s === null ? null : rows.nearest(charted_s);
    setNear(found);
    if (charted_s === null) return undefined;
    let current = true;
    const timer = setTimeout(() => {
      if (found !== null) reveal(found);
      else {
        rows.placeOf({ time: charted_s }).then(
          (row) => current && reveal(row),
          () => undefined, // The list itself shows the error.
        );
      }
    }, REST_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `reveal` is a one-time request
  }, [charted_s, rows, revision]);
  return near;
}
