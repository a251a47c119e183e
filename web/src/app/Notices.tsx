/** Messages over the canvas's upper corner, announced by screen readers: at the bottom they would cover the terminals. */

import { useNotices } from "./notices";

export function Notices() {
  const { notices, dismiss } = useNotices();
  return (
    <div className="notices" role="status" aria-live="polite">
      {notices.map((notice) => (
        <div key={notice.number} className={`notice notice-${notice.level}`}>
          <p>{notice.text}</p>
          <button type="button" className="icon-button" aria-label="Dismiss this message" onClick={() => dismiss(notice.number)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  );
}
