/** The session's messages, newest first. */

import { formatClock } from "./quantities";
import { useLive } from "./store";
import type { SessionView } from "./view";

export function MessagesTab({ view }: { view: SessionView | undefined }) {
  if (view === undefined || view.messages.length === 0) {
    return <p className="empty">No messages. Failed commands and warnings are reported here.</p>;
  }
  return (
    <>
      <div className="tool-row">
        <span className="grow" />
        <button
          type="button"
          className="small-button"
          onClick={() => useLive.getState().change(view.id, (each) => ({ ...each, messages: [] }))}
        >
          Clear
        </button>
      </div>
      <ol className="messages" aria-live="polite" aria-label="Messages, newest first">
        {[...view.messages].reverse().map((message) => (
          <li key={message.number} className={`message-${message.level}`}>
            <time title="Virtual time">{message.at_s === null ? "–" : formatClock(message.at_s)}</time>
            <span className="level">{message.level}</span>
            <span className="text">
              {message.about !== "" && <span className="about">{message.about}: </span>}
              {message.text}
              {message.times > 1 && <span className="about"> ({message.times} times)</span>}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
