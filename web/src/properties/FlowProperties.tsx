/** A flow: tool, source, target, volume and time. */

import { notify } from "../app/notices";
import { useFields } from "../app/server";
import { useUi } from "../app/ui";
import { deleteSelection } from "../canvas/commands";
import { change } from "../documents/change";
import type { DrawnFlow, Drawing } from "../documents/drawing";
import { isOn } from "../documents/drawing";
import { renameFlow, setFlowEnds, setFlowField, setFlowTool } from "../documents/edits/flows";
import type { StudyDocument } from "../documents/model";
import type { Value } from "../documents/yaml/source";
import { Check, Choice, Field } from "./Field";
import { fieldName, problemOf } from "./problems";

/** Suggestions for fields that take a name. */
const OPTIONS: Record<string, readonly string[]> = { congestion: ["cubic", "reno", "bbr"] };

export function FlowProperties({ document, drawing, flow }: { document: StudyDocument; drawing: Drawing; flow: DrawnFlow }) {
  const { flow: common, tools } = useFields();
  const infos = [...(tools[flow.tool] ?? []), ...common.filter(({ key }) => key !== "after")];
  const field = fieldName(flow.path);
  const problems = document.check?.problems ?? [];
  const whole = problems.find((one) => one.field === field || one.field === `${field}.${flow.tool}`);
  const set = (name: string, value: Value) => change(document.id, (text) => setFlowField(text, flow, name, value), { joins: true });
  const hosts = drawing.nodes.filter((node) => node.kind !== "switch").map((node) => ({ value: node.name, label: node.name }));
  const others = drawing.flows.filter((other) => other.name !== flow.name).map((other) => ({ value: other.name, label: other.name }));
  const checked = document.lastGood?.cases.find((one) => one.name === (document.chosenCase ?? "default"))?.flows.find((one) => one.name === flow.name);
  return (
    <>
      <header className="panel-title">
        <h2>Flow {flow.name}</h2>
      </header>
      <div className="button-row">
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete
        </button>
      </div>
      {whole !== undefined && (
        <p className="field-problem" role="alert">
          {whole.message}
        </p>
      )}
      <section className="group" aria-label="General">
        <div className="fields">
          <Field label="Name" when="finished" value={flow.name} commit={rename} />
          <Choice
            label="Tool"
            value={flow.tool}
            choices={Object.keys(tools).map((tool) => ({ value: tool, label: tool }))}
            commit={chooseTool}
          />
          <Choice label="From" value={flow.source} choices={hosts} commit={(source) => change(document.id, (text) => setFlowEnds(text, flow, source, flow.target))} />
          <Choice label="To" value={flow.target} choices={hosts} commit={(target) => change(document.id, (text) => setFlowEnds(text, flow, flow.source, target))} />
        </div>
      </section>
      <section className="group" aria-label="Traffic">
        <h3>Traffic</h3>
        <div className="fields">
          {infos
            .filter(({ form }) => form === "text")
            .map(({ key, label, help, placeholder }) => (
              <Field
                key={`${flow.tool}.${key}`}
                label={label}
                title={help}
                placeholder={placeholder}
                value={textOf(flow.fields[key])}
                problem={problemOf(problems, `${field}.${key}`)?.message ?? null}
                {...(OPTIONS[key] === undefined ? {} : { options: OPTIONS[key] })}
                commit={(typed) => set(key, typed || null)}
              />
            ))}
          <Choice
            label="Starts after"
            value={textOf(flow.fields["after"])}
            choices={[{ value: "", label: "no other flow" }, ...others]}
            problem={problemOf(problems, `${field}.after`)?.message ?? null}
            commit={(after) => set("after", after || null)}
          />
        </div>
        {infos
          .filter(({ form }) => form === "flag")
          .map(({ key, label, help }) => (
            <Check key={key} label={label} title={help} value={isOn(flow.fields[key])} commit={(on) => set(key, on ? "yes" : null)} />
          ))}
      </section>
      {checked !== undefined && (
        <figure className="tc">
          <figcaption>Command at {flow.source}</figcaption>
          <pre tabIndex={0}>{checked.command}</pre>
        </figure>
      )}
    </>
  );

  function chooseTool(tool: string): void {
    let { name } = flow;
    const known = new Set(common.map(({ key }) => key));
    const done = change(document.id, (text, now) => {
      const changed = setFlowTool(text, now, flow, tool, known);
      name = changed.name;
      return changed.text;
    });
    if (done) useUi.getState().select({ flows: new Set([name]) });
  }

  function rename(name: string): void {
    if (flow.path[0] === "cases") {
      notify("warning", "This flow belongs to one case: rename it in the text.");
    } else if (change(document.id, (text, now) => renameFlow(text, now, flow, name))) {
      useUi.getState().select({ flows: new Set([name]) });
    }
  }
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}
