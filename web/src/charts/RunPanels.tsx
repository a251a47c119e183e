/** The curves of runs: one chart for each quantity, with all runs. */

import { useEffect, useId, useMemo, useState } from "react";

import { getJson, errorMessage } from "../api/client";
import { PanelChart } from "./PanelChart";
import type { Look } from "./looks";
import type { PanelData } from "./panelData";
import { TimeAxis } from "./timeAxis";

export function RunPanels({ runs }: { runs: readonly string[] }) {
  const [panels, setPanels] = useState<PanelData[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<Look>>(new Set());
  const axis = useMemo(() => axisOf(panels ?? []), [panels]);
  const key = useId();
  const query = runs.map((run) => `runs=${encodeURIComponent(run)}`).join("&");

  useEffect(() => {
    let current = true;
    setPanels(null);
    setFailure(null);
    setHidden(new Set());
    getJson<PanelData[]>(`/api/panels?${query}`).then(
      (found) => current && setPanels(found),
      (error: unknown) => current && setFailure(errorMessage(error)),
    );
    return () => {
      current = false;
    };
  }, [query]);

  if (failure !== null) return <p role="alert">The curves could not be read: {failure}</p>;
  if (panels === null) return <p role="status">Reading the curves…</p>;
  if (panels.length === 0) return <p>These runs have no curves: none of their flows or probes records a time series.</p>;
  return (
    <div className="panels">
      {panels.map((panel) => (
        <PanelChart
          key={`${panel.title} ${panel.metric}`}
          panel={panel}
          axis={axis}
          hidden={hidden}
          onHidden={setHidden}
          syncKey={key}
        />
      ))}
    </div>
  );
}

/** The time of all panels together. */
function axisOf(panels: readonly PanelData[]): TimeAxis {
  const axis = new TimeAxis();
  axis.include({ from: 0, to: 1e-3 });
  for (const { times_s } of panels.flatMap(({ lines }) => lines)) {
    axis.include({ from: times_s[0] ?? 0, to: times_s.at(-1) ?? 0 });
  }
  return axis;
}
