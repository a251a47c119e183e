/**
 * Links and forms of a page that lead to its server: downloads, reports in tabs of their own, and
 * what the teacher's page sends.
 *
 * A browser sends the cookie with each, so a link is followed and a form is sent when the server
 * has proved its identity, as any other request is.
 */

import { errorMessage } from "./error";
import { verifyServer } from "./proof";

/** The link or form whose server was just verified. */
let verified: Element | null = null;

/**
 * From now on the server is verified before each.
 *
 * @param onError - called with the reason why one was not sent.
 */
export function verifyBeforeNavigation(onError: (message: string) => void): void {
  const verify = (element: Element, act: () => void) => {
    verifyServer().then(
      () => {
        verified = element;
        act();
        verified = null;
      },
      (error: unknown) => onError(errorMessage(error)),
    );
  };

  const follow = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link === verified) return;
    // Other links lead to headings of the text, or elsewhere; what was made here is a `blob:`.
    if (!link.href.startsWith(`${window.location.origin}/`) || link.getAttribute("href")?.startsWith("#")) return;
    event.preventDefault();
    const inNewTab = event.type === "auxclick" || event.ctrlKey || event.metaKey || event.shiftKey;
    verify(link, () => {
      if (inNewTab) window.open(link.href, "_blank", "noopener");
      else link.click();
    });
  };

  const { document } = window;
  document.addEventListener("click", follow, true);
  // The middle button opens a tab.
  document.addEventListener("auxclick", (event) => event.button === 1 && follow(event), true);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form === verified || event.defaultPrevented) return;
    // The page itself takes forms in dialogs.
    if (form.getAttribute("action") === null) return;
    event.preventDefault();
    verify(form, () => form.requestSubmit(event.submitter));
  });
}
