/** Initialisation when the page is loaded. */

import { verifyBeforeNavigation } from "../api/navigation";
import { attempt } from "../files/actions";
import { beginDrafts } from "../documents/drafts";
import { closeTaken, showLast, useDocuments } from "../documents/store";
import { notify } from "./notices";
import { useServer } from "./server";

/** Opens the file or lab in the URL's query, and removes it from the URL: a reload keeps the tabs. */
export async function start(): Promise<void> {
  verifyBeforeNavigation((message) => notify("error", message));
  void useServer.getState().load();
  const url = new URL(window.location.href);
  const path = url.searchParams.get("open");
  const lab = url.searchParams.get("lab");
  url.searchParams.delete("open");
  url.searchParams.delete("lab");
  window.history.replaceState(null, "", url);
  const { openFile, openLab, openNew, take } = useDocuments.getState();
  const has = (id: string) => useDocuments.getState().documents.some((one) => one.id === id);
  await attempt("The saved drafts could not be read.", () => beginDrafts({ take, close: closeTaken, has }));
  showLast();
  if (path !== null) await attempt(`${path} could not be opened.`, () => openFile(path));
  if (lab !== null) await attempt(`The lab ${lab} could not be opened.`, () => openLab(lab));
  const { documents } = useDocuments.getState();
  if (documents.length === 0 && path === null && lab === null) await openNew({ first: true });
}
