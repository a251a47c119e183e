/** The routes of a host. */

import { useState } from "react";
import type { Problem } from "../api/types";
import { change } from "../documents/change";
import type { DrawnNode, Drawing } from "../documents/drawing";
import { setRoutes } from "../documents/edits/nodes";
import type { StudyDocument } from "../documents/model";
import { Field } from "./Field";
import { fieldName, problemOf } from "./problems";

interface RoutesProps {
  document: StudyDocument;
  drawing: Drawing;
  node: DrawnNode;
  problems: readonly Problem[];
}

export function Routes({ document, drawing, node, problems }: RoutesProps) {
  const [to, setTo] = useState("");
  const [via, setVia] = useState("");
  const field = fieldName([...drawing.networkPath, "hosts", node.name, "routes"]);
  const set = (routes: DrawnNode["routes"], joins = false) =>
    change(document.id, (text) => setRoutes(text, drawing.networkPath, node.name, routes), { joins });
  return (
    <section className="group" aria-label="Routes">
      <h3>Routes</h3>
      {node.routes.map((route, index) => (
        <div className="line-row" key={route.to}>
          <Field
            label={`To ${route.to}, via`}
            wide
            value={route.via}
            problem={problemOf(problems, `${field}.${route.to}`)?.message ?? null}
            commit={(typed) => set(node.routes.map((one, at) => (at === index ? { ...one, via: typed } : one)), true)}
          />
          <button
            type="button"
            className="small icon-button"
            aria-label={`Remove the route to ${route.to}`}
            title="Remove this route"
            onClick={() => set(node.routes.filter((_, at) => at !== index))}
          >
            ✕
          </button>
        </div>
      ))}
      <form
        className="line-row"
        onSubmit={(event) => {
          event.preventDefault();
          if (to.trim() !== "" && via.trim() !== "" && set([...node.routes.filter((one) => one.to !== to.trim()), { to: to.trim(), via: via.trim() }])) {
            setTo("");
            setVia("");
          }
        }}
      >
        <input type="text" aria-label="New route to" placeholder="default" value={to} onChange={(event) => setTo(event.target.value)} />
        <input type="text" aria-label="New route's next router" placeholder="via 10.0.0.254" value={via} onChange={(event) => setVia(event.target.value)} />
        <button type="submit" className="small" disabled={to.trim() === "" || via.trim() === ""}>
          Add
        </button>
      </form>
    </section>
  );
}
