/**
 * Links to the server: downloads, and reports in tabs of their own.
 *
 * A browser sends the cookie with each, so a link is followed when the server has proved its
 * identity, as any other request is sent.
 */

import { notify } from "../app/notices";
import { errorMessage } from "./error";
import { verifyServer } from "./proof";

/** The link whose server was just verified. */
let verified: HTMLAnchorElement | null = null;

export function verifyBeforeLinks(): void {
  window.document.addEventListener("click", follow, true);
  // The middle button opens a tab.
  window.document.addEventListener("auxclick", (event) => event.button === 1 && follow(event), true);
}

function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link === verified) return;
  // Links of the text lead to headings, or elsewhere; what was made here is a `blob:`.
  if (!link.href.startsWith(`${window.location.origin}/`) || link.getAttribute("href")?.startsWith("#")) return;
  event.preventDefault();
  const inNewTab = event.type === "auxclick" || event.ctrlKey || event.metaKey || event.shiftKey;
  verifyServer().then(
    () => {
      if (inNewTab) window.open(link.href, "_blank", "noopener");
      else {
        verified = link;
        link.click();
        verified = null;
      }
    },
    (error: unknown) => notify("error", errorMessage(error)),
  );
}
