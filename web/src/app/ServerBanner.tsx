/** A banner for a server that is unreachable, serves another workspace, or has another token. */

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
          <strong>The studio has a new token.</strong> Open the URL that it printed; what you have drawn here since is
          kept in this browser and sent then.
        </span>
      )}
      {link === "another" && (
        <span>
          <strong>This address now serves another workspace.</strong> This page belongs to {path}, and nothing of it is written
          there. To continue, start the studio for that folder: {start}, and open the URL that it prints.
        </span>
      )}
    </p>
  );
}
