/** The study's properties, shown while nothing is selected. */

import { useFields, useKernels } from "../app/server";
import { useUi } from "../app/ui";
import { change } from "../documents/change";
import type { Drawing } from "../documents/drawing";
import type { StudyField } from "../documents/edits/study";
import { setNetworkField, setStudyField } from "../documents/edits/study";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { DeclaredFlags } from "./DeclaredFields";
import { Choice, Field } from "./Field";
import { problemOf } from "./problems";
import { SetupLines } from "./SetupLines";

export function StudyProperties({ document, drawing }: { document: StudyDocument; drawing: Drawing }) {
  const kernels = useKernels();
  const fields = useFields().network;
  const chooseCase = useDocuments((state) => state.chooseCase);
  const problems = document.check?.problems ?? [];
  const set = (field: StudyField, typed: string) => change(document.id, (text) => setStudyField(text, field, typed || null), { joins: true });
  const words = (field: string) => problems.find((one) => one.field === field)?.message ?? null;
  const series = kernels.map(({ series: name, release }) => ({ value: name, label: `${name} (${release})` }));
  const usual = { value: "", label: `${document.lastGood?.kernel ?? "newest"} (default)` };
  return (
    <>
      <header className="panel-title">
        <h2>{drawing.title ?? "Study without a title"}</h2>
      </header>
      <p className="facts">
        {drawing.nodes.length === 0
          ? "Nothing is drawn yet."
          : `${counted(drawing.nodes.length, "node")}, ${counted(drawing.links.length, "link")}, ${counted(drawing.flows.length, "flow")}. Select one on the canvas to see its properties.`}
      </p>
      <section className="group" aria-label="Study">
        <div className="fields">
          <Field label="Title" wide value={drawing.title ?? ""} problem={words("title")} commit={(typed) => set("title", typed)} />
          <Choice label="Kernel" value={drawing.kernel ?? ""} choices={[usual, ...series]} problem={problemOf(problems, "kernel")?.message ?? null} commit={(typed) => set("kernel", typed)} />
          <Field label="Seed" value={drawing.seed ?? ""} placeholder="1" problem={words("seed")} commit={(typed) => set("seed", typed)} />
        </div>
        <DeclaredFlags
          fields={fields}
          valueOf={(key) => drawing.networkFields[key] ?? ""}
          commit={(key, typed) => change(document.id, (text, now) => setNetworkField(text, now.networkPath, key, typed))}
        />
      </section>
      {drawing.cases.length > 0 && (
        <section className="group" aria-label="Cases">
          <h3>Cases</h3>
          <div role="radiogroup" aria-label="Case to run" className="cases">
            {drawing.cases.map((one) => (
              <div key={one.name} className="case-row">
                <label>
                  <input
                    type="radio"
                    name={`case-${document.id}`}
                    checked={document.chosenCase === one.name}
                    onChange={() => chooseCase(document.id, one.name)}
                  />
                  <span>{one.name}</span>
                  {one.title !== null && <span className="dim">{one.title}</span>}
                </label>
                <button
                  type="button"
                  className="small"
                  aria-label={`Show the case ${one.name} in the text`}
                  onClick={() => {
                    useUi.getState().set({ rightTab: "yaml" });
                    useUi.getState().goToLine(one.line, { focus: true });
                  }}
                >
                  Text
                </button>
              </div>
            ))}
          </div>
        </section>
      )}
      <SetupLines document={document} drawing={drawing} node="root" />
    </>
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
