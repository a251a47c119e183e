/** The row of the list that is nearest to the time hovered in the charts. */

import { useEffect, useState } from "react";
import { useStore } from "zustand";

import { hoveredInCharts, type ChartView } from "../charts/view";
import type { PacketRows } from "./capture";

/** The list scrolls to a time only after the pointer has rested there for so long: it would not keep still else. */
const REST_MS = 250;

/**
 * Mark the nearest row at once where it is loaded, and ask for it to be shown when the pointer rests.
 *
 * @param revision - grows when rows have come.
 * @param reveal - brings a row into sight.
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
          () => undefined, // The list itself says what is wrong.
        );
      }
    }, REST_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- to reveal is a wish of the moment
  }, [charted_s, rows, revision]);
  return near;
}
