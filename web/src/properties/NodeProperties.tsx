/** A host, router or switch. */

import { useState } from "react";
import type { CheckedHost, Problem } from "../api/types";
import { notify } from "../app/notices";
import { useFields } from "../app/server";
import { colourSelection, deleteSelection, rename } from "../canvas/commands";
import { NodeIcon } from "../canvas/icons";
import { change } from "../documents/change";
import type { Drawing, DrawnNode } from "../documents/drawing";
import { setAddress, setForwards, setHostField, setRoutes } from "../documents/edits/nodes";
import { setSysctl, sysctlOf } from "../documents/edits/setup";
import type { StudyDocument } from "../documents/model";
import { openTerminal } from "../terminals/open";
import { ColourChoice } from "./ColourChoice";
import { DeclaredFlags, DeclaredTexts } from "./DeclaredFields";
import { Check, Field } from "./Field";
import { LiveLosses } from "./LiveLosses";
import { SetupLines } from "./SetupLines";
import { fieldName, problemOf } from "./problems";
import { bytesOf, largestOf, sizeText, withLargest } from "./sizes";

const CONGESTION = "net.ipv4.tcp_congestion_control";
const ALGORITHMS = ["cubic", "reno", "bbr", "htcp", "dctcp", "vegas", "westwood"];

export function QuickSysctls({ document, drawing, node }: { document: StudyDocument; drawing: Drawing; node: string }) {
  const common = drawing.setup.filter((line) => line.path[0] === "setup");
  const valueOf = (key: string) => {
    const found = common.filter((line) => line.nodes.includes(node)).map((line) => sysctlOf(line.text));
    return found.filter((one) => one?.key === key).at(-1)?.value ?? "";
  };
  const set = (key: string, value: string | null) => change(document.id, (text, now) => setSysctl(text, now.setup.filter((line) => line.path[0] === "setup"), node, key, value));
  const buffer = (key: string, label: string) => {
    const sizes = valueOf(key);
    const largest = largestOf(sizes);
    return (
      <Field
        label={label}
        when="finished"
        value={largest}
        placeholder="kernel default"
        {...(largest === "" ? {} : { hint: `${sizeText(Number(largest))}` })}
        commit={(typed) => {
          const bytes = bytesOf(typed);
          if (typed === "") set(key, null);
          else if (bytes === null) notify("error", `'${typed}' is not a valid size: enter bytes, or a unit such as 50MB; less than 2 GB.`);
          else set(key, withLargest(sizes, bytes));
        }}
      />
    );
  };
  return (
    <section className="group" aria-label="TCP">
      <h3>TCP</h3>
      <div className="fields">
        {buffer("net.ipv4.tcp_rmem", "Receive buffer, max")}
        {buffer("net.ipv4.tcp_wmem", "Send buffer, max")}
        <Field
          label="Congestion control"
          when="finished"
          value={valueOf(CONGESTION)}
          placeholder="cubic"
          options={ALGORITHMS}
          commit={(typed) => set(CONGESTION, typed === "" ? null : typed)}
        />
      </div>
    </section>
  );
}

interface RoutesProps {
  document: StudyDocument;
  drawing: Drawing;
  node: DrawnNode;
  problems: readonly Problem[];
}

export function Routes({ document, drawing, node, problems }: RoutesProps) {
  const [to, setTo] = useState("");
  const [via, setVia] = useState("");
  const field = fieldName([...node.path, "routes"]);
  const written = new Set(node.routes.map(({ to }) => to));
  const assigned = (assignedTo(document, node)?.routes ?? []).filter(({ to }) => !written.has(to));
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
      {assigned.length > 0 && <p className="facts">{`Automatic: ${assigned.map(({ to, via }) => `${to} via ${via}`).join("; ")}`}</p>}
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

/** A host with the addresses and routes that it gets automatically; undefined if it has no interface, or they are not known. */
function assignedTo(document: StudyDocument, node: DrawnNode): CheckedHost | undefined {
  return node.interfaces.length === 0 ? undefined : document.lastGood?.network?.hosts.find(({ name }) => name === node.name);
}

const KINDS = { host: "Host", router: "Router", switch: "Switch" };

export function NodeProperties({ document, drawing, node }: { document: StudyDocument; drawing: Drawing; node: DrawnNode }) {
  const field = fieldName(node.path);
  const problems = document.check?.problems ?? [];
  const isSwitch = node.kind === "switch";
  const fields = useFields().host;
  const assigned = assignedTo(document, node);
  const valueOf = (key: string) => node.fields[key] ?? "";
  const set = (key: string, typed: string | null) =>
    change(document.id, (text) => setHostField(text, drawing.networkPath, node.name, key, typed), { joins: true });
  const addressProblem = problemOf(problems, `${field}.address`) ?? problems.find((one) => one.field === field) ?? null;
  return (
    <>
      <header className="panel-title">
        <NodeIcon kind={node.kind} size={22} />
        <h2>
          {KINDS[node.kind]} {node.name}
        </h2>
      </header>
      <div className="button-row">
        <button type="button" onClick={() => openTerminal(document, node.name)}>
          Terminal
        </button>
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete
        </button>
      </div>
      <LiveLosses sessionId={document.sessionId} node={isSwitch ? null : node.name} interfaces={node.interfaces} />
      <section className="group" aria-label="General">
        <div className="fields">
          <Field label="Name" when="finished" value={node.name} commit={(to) => rename(document.id, node.name, to)} />
          {!isSwitch && (
            <Field
              label="Address"
              value={node.address ?? ""}
              placeholder={assigned?.address ?? "automatic"}
              problem={addressProblem?.message ?? null}
              commit={(typed) => change(document.id, (text) => setAddress(text, drawing.networkPath, node.name, typed || null), { joins: true })}
            />
          )}
          {!isSwitch && <DeclaredTexts fields={fields} valueOf={valueOf} problemOf={(key) => problemOf(problems, `${field}.${key}`)?.message ?? null} commit={set} />}
        </div>
        {!isSwitch && <DeclaredFlags fields={fields} valueOf={valueOf} commit={set} />}
        {!isSwitch && (
          <Check
            label="Forwards packets (router)"
            value={node.kind === "router"}
            commit={(on) => change(document.id, (text) => setForwards(text, drawing.networkPath, node.name, on))}
          />
        )}
        <p className="facts">
          {node.interfaces.length === 0 ? "No interfaces yet: link it to another node." : `Interfaces: ${node.interfaces.join(", ")}`}
        </p>
      </section>
      <section className="group" aria-label="Colour of the node">
        <h3>Colour</h3>
        <ColourChoice value={drawing.colours.get(node.name) ?? null} commit={(colour) => colourSelection(document.id, colour)} />
      </section>
      {isSwitch ? (
        <SetupLines
          document={document}
          drawing={drawing}
          node="root"
          only={(line) => node.interfaces.some((name) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(line.text))}
        />
      ) : (
        <>
          <Routes document={document} drawing={drawing} node={node} problems={problems} />
          {node.kind === "host" && <QuickSysctls document={document} drawing={drawing} node={node.name} />}
          <SetupLines document={document} drawing={drawing} node={node.name} />
        </>
      )}
    </>
  );
}
