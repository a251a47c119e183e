/** Entry point of the page. */

import { StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/base.css";
import "./style/variables.css";
import "./style/page.css";
import "./style/controls.css";
import "./style/canvas.css";
import "./style/panel.css";
import { App } from "./app/App";
import { start } from "./app/start";

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
