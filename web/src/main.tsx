/** Entry point of the page. */

import { StrictMode } from "react";
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
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
void start();
