/** A flow: which tool sends, from where to where, how much and when. */

import { tell } from "../app/notices";
import { useUi } from "../app/ui";
import { deleteSelection } from "../canvas/commands";
import { change } from "../documents/change";
import type { DrawnFlow, Drawing } from "../documents/drawing";
import { FLOW_TOOLS } from "../documents/drawing";
import { renameFlow, setFlowEnds, setFlowField, setFlowTool } from "../documents/edits/flows";
import type { StudyDocument } from "../documents/model";
import type { Value } from "../documents/yaml/source";
import { Check, Choice, Field } from "./Field";
import { fieldName, problemOf } from "./problems";

interface FieldInfo {
  name: string;
  label: string;
  placeholder: string;
  options?: readonly string[];
}

const SHARED: FieldInfo[] = [{ name: "start", label: "Starts after", placeholder: "0s" }];
const BULK: FieldInfo[] = [
  { name: "time", label: "Time", placeholder: "10s" },
  { name: "bytes", label: "or bytes", placeholder: "1GB" },
  { name: "parallel", label: "Streams", placeholder: "1" },
  { name: "congestion", label: "Congestion control", placeholder: "the host's", options: ["cubic", "reno", "bbr"] },
  { name: "rate", label: "Rate of each stream", placeholder: "as fast as it goes" },
  { name: "window", label: "Socket buffer", placeholder: "autotuned" },
];
const FIELDS: Record<string, FieldInfo[]> = {
  iperf3: BULK,
  transfer: BULK,
  ping: [
    { name: "count", label: "Requests", placeholder: "4" },
    { name: "interval", label: "Interval", placeholder: "1s" },
    { name: "size", label: "Size", placeholder: "56" },
  ],
};
const OF_EVERY_TOOL = new Set(["start", "start_spread", "after"]);

export function FlowProperties({ document, drawing, flow }: { document: StudyDocument; drawing: Drawing; flow: DrawnFlow }) {
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
            choices={FLOW_TOOLS.map((tool) => ({ value: tool, label: tool }))}
            commit={(tool) => change(document.id, (text) => setFlowTool(text, flow, tool, OF_EVERY_TOOL))}
          />
          <Choice label="From" value={flow.source} choices={hosts} commit={(source) => change(document.id, (text) => setFlowEnds(text, flow, source, flow.target))} />
          <Choice label="To" value={flow.target} choices={hosts} commit={(target) => change(document.id, (text) => setFlowEnds(text, flow, flow.source, target))} />
        </div>
      </section>
      <section className="group" aria-label="Traffic">
        <h3>Traffic</h3>
        <div className="fields">
          {[...(FIELDS[flow.tool] ?? []), ...SHARED].map(({ name, label, placeholder, options }) => (
            <Field
              key={`${flow.tool}.${name}`}
              label={label}
              placeholder={placeholder}
              value={textOf(flow.fields[name])}
              problem={problemOf(problems, `${field}.${name}`)?.message ?? null}
              {...(options === undefined ? {} : { options })}
              commit={(typed) => set(name, typed || null)}
            />
          ))}
          <Choice
            label="Waits for"
            value={textOf(flow.fields["after"])}
            choices={[{ value: "", label: "no other flow" }, ...others]}
            problem={problemOf(problems, `${field}.after`)?.message ?? null}
            commit={(after) => set("after", after || null)}
          />
        </div>
        {FIELDS[flow.tool] === BULK && (
          <Check label="Reverse: the target sends" value={isOn(flow.fields["reverse"])} commit={(on) => set("reverse", on ? "true" : null)} />
        )}
        {flow.tool === "iperf3" && (
          <Check label="UDP in place of TCP" value={isOn(flow.fields["udp"])} commit={(on) => set("udp", on ? "true" : null)} />
        )}
      </section>
      {checked !== undefined && (
        <figure className="tc">
          <figcaption>The line that is run at {flow.source}</figcaption>
          <pre tabIndex={0}>{checked.command}</pre>
        </figure>
      )}
    </>
  );

  function rename(name: string): void {
    if (flow.path[0] === "cases") {
      tell("warning", "This flow is one case's own: rename it in the text.");
    } else if (change(document.id, (text, now) => renameFlow(text, now, flow, name))) {
      useUi.getState().select({ flows: new Set([name]) });
    }
  }
}

function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

function isOn(value: Value | undefined): boolean {
  return typeof value === "string" && /^(true|yes|on)$/i.test(value);
}
