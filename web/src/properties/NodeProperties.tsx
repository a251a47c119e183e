/** A host, router or switch. */

import { useFields } from "../app/server";
import { colourSelection, deleteSelection, rename } from "../canvas/commands";
import { NodeIcon } from "../canvas/icons";
import { change } from "../documents/change";
import type { DrawnNode, Drawing } from "../documents/drawing";
import { setAddress, setForwards, setHostField } from "../documents/edits/nodes";
import type { StudyDocument } from "../documents/model";
import { openTerminal } from "../terminals/open";
import { ColourChoice } from "./ColourChoice";
import { Check, Field } from "./Field";
import { fieldName, problemOf } from "./problems";
import { QuickSysctls } from "./QuickSysctls";
import { Routes } from "./Routes";
import { SetupLines } from "./SetupLines";

const KINDS = { host: "Host", router: "Router", switch: "Switch" };

export function NodeProperties({ document, drawing, node }: { document: StudyDocument; drawing: Drawing; node: DrawnNode }) {
  const field = fieldName([...drawing.networkPath, "hosts", node.name]);
  const problems = document.check?.problems ?? [];
  const isSwitch = node.kind === "switch";
  const fields = useFields().host;
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
      <section className="group" aria-label="General">
        <div className="fields">
          <Field label="Name" when="finished" value={node.name} commit={(to) => rename(document.id, node.name, to)} />
          {!isSwitch && (
            <Field
              label="Address"
              value={node.address ?? ""}
              placeholder="10.0.0.1/8"
              problem={addressProblem?.message ?? null}
              commit={(typed) => change(document.id, (text) => setAddress(text, drawing.networkPath, node.name, typed || null), { joins: true })}
            />
          )}
          {!isSwitch &&
            fields.map(({ key, label, placeholder, help }) => (
              <Field
                key={key}
                label={label}
                title={help}
                value={node.fields[key] ?? ""}
                placeholder={placeholder}
                problem={problemOf(problems, `${field}.${key}`)?.message ?? null}
                commit={(typed) => change(document.id, (text) => setHostField(text, drawing.networkPath, node.name, key, typed || null), { joins: true })}
              />
            ))}
        </div>
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
