/** What is true of the server, where it is not as usual: away, another one, or with another token. */

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
          <strong>The studio does not answer.</strong> What you draw meanwhile is kept in this browser and goes there as soon as it
          answers again. If it was ended, start it: {start}. Its sessions have ended then; their runs are in Runs.
        </span>
      )}
      {link === "refused" && (
        <span>
          <strong>The studio wants another token.</strong> Open the URL that it printed; what you have drawn here since is
          kept in this browser, and goes there then.
        </span>
      )}
      {link === "another" && (
        <span>
          <strong>Another workspace’s studio answers here now.</strong> This page is of {path}, and nothing of it is written
          there. To go on, start its own studio: {start}, and open the URL that it prints.
        </span>
      )}
    </p>
  );
}
