/** Virtual time and its state: running, idle or held. */

import { formatClock, formatSpeed } from "./quantities";
import type { SessionView } from "./view";

const MEANING = {
  running: "Virtual time is running",
  idle: "No process in the network has anything to do, so its clock is paused",
  held: "Virtual time is held: read values, change links, type, step, or resume",
};

interface ClockFaceProps {
  view: SessionView | undefined;
  starting: boolean;
}

export function ClockFace({ view, starting }: ClockFaceProps) {
  if (starting || view === undefined || view.clock === null || view.link === "ended") {
    const words = starting ? "The machine boots…" : view?.link === "connecting" ? "Connecting…" : "No network yet";
    return (
      <div className="clock-face" role="status">
        <span className="clock-time">–</span>
        <span className="clock-state">{words}</span>
      </div>
    );
  }
  const { now_s, state, speed } = view.clock;
  return (
    <div className="clock-face" title={`${MEANING[state]}. Virtual time since the boot: ${now_s.toFixed(9)} s`}>
      <span className="clock-time" aria-label="Virtual time">
        {formatClock(now_s)}
      </span>
      <span className={`clock-state clock-${state}`}>
        <span className="clock-dot" aria-hidden="true" />
        <span role="status">{state}</span>
        {state === "running" && <span className="clock-speed"> {formatSpeed(speed)} real time</span>}
      </span>
    </div>
  );
}
