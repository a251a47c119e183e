/** Entry point of the page. */

import { StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { verifyBeforeNavigation } from "./api/navigation";
import { App } from "./app/App";
import { notify } from "./app/notices";
import { useServer } from "./app/server";
import { beginDrafts } from "./documents/drafts";
import { closeTaken, showLast, useDocuments } from "./documents/store";
import { attempt } from "./files/actions";
import "@xyflow/react/dist/base.css";
import "./style/variables.css";
import "./style/page.css";
import "./style/controls.css";
import "./style/canvas.css";
import "./style/panel.css";

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

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no element #root");
const page = createRoot(root);
// At once, so that keys pressed as soon as the browser has loaded the page are not lost.
flushSync(() =>
  page.render(
    <StrictMode>
      <App />
    </StrictMode>,
  ),
);
void start();
