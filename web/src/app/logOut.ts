/** Logout: the end of this browser's session, or of those of all other browsers. */

import { postJson } from "../api/client";
import { flush } from "../documents/drafts";
import { attempt } from "../files/actions";
import { useDialogs } from "../files/dialogs";
import { notify } from "./notices";

/** The page that says how to come back. */
const LOGGED_OUT = "/logged-out";

export function confirmLogOut(): void {
  useDialogs.getState().open({
    kind: "confirm",
    title: "Log out?",
    text: "This browser then has no access to the studio until your link is opened again. What is drawn is kept, and machines go on.",
    choices: [
      { label: "Log out", main: true, act: () => void logOut() },
      { label: "Log out all other browsers", act: () => void logOutOthers() },
      { label: "Cancel", act: () => undefined },
    ],
  });
}

async function logOut(): Promise<void> {
  await attempt("This browser could not be logged out.", async () => {
    await flush();
    await postJson("/api/log-out", {});
    window.location.replace(LOGGED_OUT);
  });
}

async function logOutOthers(): Promise<void> {
  await attempt("The other browsers could not be logged out.", async () => {
    const { ended } = await postJson<{ ended: number }>("/api/log-out", { others: true });
    notify("info", ended === 0 ? "No other browser was logged in." : `Logged out: ${ended} ${ended === 1 ? "browser" : "browsers"}.`);
  });
}
