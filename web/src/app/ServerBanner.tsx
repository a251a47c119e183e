/** A banner for a server that is unreachable, is another one, or is not open to this browser any more. */

import { useDrafts } from "../documents/drafts";

export function ServerBanner() {
  const link = useDrafts((state) => state.link);
  const path = useDrafts((state) => state.path);
  if (link === "open") return null;
  const start = <code>longfat studio --workspace {path}</code>;
  return (
    <p className="server-banner" role="alert">
      {link === "lost" && (
        <span>
          <strong>The studio does not respond.</strong> What you draw meanwhile is kept in this browser and sent as soon as it
          responds again. If it was stopped, start it: {start}. Its sessions have ended then; their runs are in Runs.
        </span>
      )}
      {link === "refused" && (
        <span>
          <strong>This browser is not logged in any more.</strong> Open your link again: the URL that the studio printed, or in
          a class the link from your teacher. What you have drawn here since is kept in this browser and sent then.
        </span>
      )}
      {link === "another" && (
        <span>
          <strong>This address now serves another workspace, or another program.</strong> This page belongs to {path}. Nothing of it
          is sent there, and it goes on by itself when its own studio responds again: {start}. Do not reload it until then. In a
          class, another student's link may have been opened in this browser: open yours.
        </span>
      )}
    </p>
  );
}
