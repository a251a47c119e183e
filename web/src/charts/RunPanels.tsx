/** The curves of runs, asked of the server: each quantity a chart, all runs in it. */

import { useEffect, useId, useState } from "react";

import { getJson, wordsOf } from "../api/client";
import type { PanelData } from "../api/types";
import { PanelChart } from "./PanelChart";

export function RunPanels({ runs }: { runs: readonly string[] }) {
  const [panels, setPanels] = useState<PanelData[] | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const key = useId();
  const query = runs.map((run) => `runs=${encodeURIComponent(run)}`).join("&");

  useEffect(() => {
    let current = true;
    setPanels(null);
    setFailure(null);
    getJson<PanelData[]>(`/api/panels?${query}`).then(
      (found) => current && setPanels(found),
      (error: unknown) => current && setFailure(wordsOf(error)),
    );
    return () => {
      current = false;
    };
  }, [query]);

  if (failure !== null) return <p role="alert">The curves could not be read: {failure}</p>;
  if (panels === null) return <p role="status">Reading the curves…</p>;
  if (panels.length === 0) return <p>These runs have no curves: none of their flows or probes makes any.</p>;
  return (
    <div className="panels">
      {panels.map((panel) => (
        <PanelChart key={`${panel.title} ${panel.metric}`} panel={panel} syncKey={key} />
      ))}
    </div>
  );
}
