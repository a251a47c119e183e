/**
 * Which charts there are, and the lines in them.
 *
 * A chart shows one quantity of flows, or of interfaces. The earlier recordings that
 * the user has ticked are drawn behind the latest one.
 */

import type { Level, Mark, Recording, SeriesInfo } from "../api/types";
import { unitOf, type Unit } from "../live/quantities";
import { nameOf } from "../live/view";
import { styleIndicesOf, type StyleIndex } from "./lineStyles";

export interface LineSpec {
  /** Of the flow or interface in this chart, whatever the recording: hidden by this name. */
  of: string;
  label: string;
  recording: number;
  key: string;
  /** The line that is summed up in the legend: for an average over time, what is averaged. */
  figureKey: string;
  style_index: StyleIndex;
  /** Of a recording before the latest. */
  earlier: boolean;
  /** A queue's capacity. */
  limit: number | null;
  /** The key of the cumulative drops there. */
  drops: string | null;
}

export interface PanelSpec {
  id: string;
  title: string;
  /** The title for a small button. */
  short: string;
  unit: Unit;
  lines: LineSpec[];
  /** The statistic of each line over the visible time range. */
  figure: "average" | "mean" | "maximum";
  /** Whether it is shown by default. */
  usual: boolean;
  /** The start of the latest recording: times in charts are those of the clock. */
  origin_s: number;
  /** Reference levels of its lines in the latest recording. */
  levels: Level[];
  /** Events in it, and the keys of the drops at its queues. */
  marks: Mark[];
  dropKeys: string[];
  /** The number of that recording. */
  latest: number;
  /** What the value axis has to hold, if charts side by side share it: whatever each of them shows. */
  values?: ValueRange;
}

/** The smallest value above 0 and the largest one, levels and, of empty queues, limits included. */
export interface ValueRange {
  least: number | null;
  most: number;
}

type Kind = Pick<PanelSpec, "id" | "title" | "short" | "figure" | "usual">;

const KINDS: Kind[] = [
  { id: "throughput_bps", title: "Throughput", short: "Throughput", figure: "average", usual: true },
  { id: "throughput_raw_bps", title: "Throughput, each sample", short: "Raw throughput", figure: "average", usual: false },
  { id: "rtt_s", title: "Round-trip time", short: "RTT", figure: "mean", usual: true },
  { id: "cwnd_bytes", title: "Congestion window", short: "Window", figure: "maximum", usual: true },
  { id: "backlog_bytes", title: "Queue", short: "Queue", figure: "maximum", usual: true },
  { id: "tx_bps", title: "Sent by interface", short: "Interfaces", figure: "average", usual: false },
  { id: "retransmits", title: "Retransmissions", short: "Resent", figure: "maximum", usual: false },
  { id: "marks", title: "Marks", short: "Marks", figure: "maximum", usual: false },
];

/** The charts of the latest recording and of those before it that are shown. */
export function panelsOf(recordings: readonly Recording[], earlier: ReadonlySet<number>): PanelSpec[] {
  const latest = recordings[recordings.length - 1];
  if (latest === undefined) return [];
  const styleIndices = styleIndicesOf(recordings);
  const shown = recordings.filter((each) => each === latest || earlier.has(each.number));
  const panels = new Map<string, PanelSpec>();
  for (const recording of shown) {
    for (const info of recording.series) {
      if (info.quantity === "drops" || info.quantity === "limit_bps") continue;
      const panel = panels.get(info.quantity) ?? newPanel(info, latest);
      panels.set(info.quantity, panel);
      const isInterface = info.kind === "queue" || info.kind === "rate";
      panel.lines.push({
        of: info.of,
        label: recording === latest ? info.label : `${info.label} (${nameOf(recording)})`,
        recording: recording.number,
        key: info.key,
        figureKey: info.key.replace(/:throughput_bps$/, ":throughput_raw_bps"),
        style_index: isInterface ? styleIndices.interface(info.of) : styleIndices.flow(info.of),
        earlier: recording !== latest,
        limit: info.limit,
        drops: info.quantity === "backlog_bytes" ? dropsOf(recording, info) : null,
      });
    }
  }
  const order = (panel: PanelSpec) => {
    const place = KINDS.findIndex((kind) => kind.id === panel.id);
    return place < 0 ? KINDS.length : place;
  };
  return [...panels.values()].sort((one, other) => order(one) - order(other));
}

function newPanel(info: SeriesInfo, latest: Recording): PanelSpec {
  const kind = KINDS.find((each) => each.id === info.quantity) ?? {
    id: info.quantity,
    title: info.quantity,
    short: info.quantity,
    figure: "maximum" as const,
    usual: false,
  };
  return {
    ...kind,
    unit: unitOf(info.unit),
    lines: [],
    origin_s: latest.start_s,
    levels: latest.levels.filter(({ quantity }) => quantity === info.quantity),
    marks: latest.marks,
    dropKeys: latest.series.filter(({ quantity }) => quantity === "drops").map(({ key }) => key),
    latest: latest.number,
  };
}

function dropsOf(recording: Recording, info: SeriesInfo): string | null {
  const found = recording.series.find((each) => each.of === info.of && each.quantity === "drops");
  return found?.key ?? null;
}

/** Whether a chart is enabled: as usual, or switched by the user. */
export function isShown(panel: PanelSpec, switched: ReadonlySet<string>): boolean {
  return panel.usual !== switched.has(panel.id);
}
