/** A new study of a template, with its parameters, or of a network of practice. */

import { useEffect, useState } from "react";
import { getJson, errorMessage } from "../api/client";
import type { Template } from "../api/types";
import { Dialog } from "../app/Dialog";
import { useDocuments } from "../documents/store";

const GROUPS: { kind: Template["kind"]; title: string }[] = [
  { kind: "template", title: "Topologies and measurements" },
  { kind: "practice", title: "Networks of practice" },
];

export function TemplateDialog({ close }: { close: () => void }) {
  const [templates, setTemplates] = useState<Template[]>([]);
  const [name, setName] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    getJson<Template[]>("/api/templates").then(
      (found) => {
        setTemplates(found);
        setName(found[0]?.name ?? "");
      },
      (error: unknown) => setProblem(errorMessage(error)),
    );
  }, []);
  const template = templates.find((one) => one.name === name);
  return (
    <Dialog title="New from a template" close={close} wide>
      <form
        className="template-form"
        onSubmit={(event) => {
          event.preventDefault();
          const own = Object.fromEntries((template?.parameters ?? []).map(({ key }) => [key, (values[key] ?? "").trim()]));
          useDocuments
            .getState()
            .openTemplate(name, own)
            .then(close, (error: unknown) => setProblem(errorMessage(error)));
        }}
      >
        <div className="template-groups">
          {GROUPS.map(({ kind, title }) => (
            <fieldset key={kind} className="template-group">
              <legend>{title}</legend>
              <div className="template-list">
                {templates
                  .filter((template) => template.kind === kind)
                  .map((template) => (
                    <label key={template.name} className={template.name === name ? "template template-chosen" : "template"}>
                      <input
                        type="radio"
                        name="template"
                        checked={template.name === name}
                        onChange={() => {
                          setName(template.name);
                          setProblem(null);
                        }}
                      />
                      <span>
                        <strong>{template.title}</strong>
                        <span className="dim">{template.help}</span>
                      </span>
                    </label>
                  ))}
              </div>
            </fieldset>
          ))}
        </div>
        {template !== undefined && template.parameters.length > 0 && (
          <div className="fields">
            {template.parameters.map(({ key, label, help, limits, default: usual }) => (
              <div key={key} className="field">
                <label htmlFor={`template-${key}`}>{label}</label>
                <input
                  id={`template-${key}`}
                  type="text"
                  value={values[key] ?? ""}
                  placeholder={usual}
                  spellCheck={false}
                  autoComplete="off"
                  aria-describedby={`template-${key}-help`}
                  aria-invalid={problem?.startsWith(`${key}:`) ? true : undefined}
                  onChange={(event) => {
                    setValues({ ...values, [key]: event.target.value });
                    setProblem(null);
                  }}
                />
                <p className="field-hint" id={`template-${key}-help`}>
                  {help}
                  {limits !== "" && ` (${limits})`}
                </p>
              </div>
            ))}
          </div>
        )}
        {problem !== null && (
          <p className="field-problem" role="alert">
            {problem}
          </p>
        )}
        <div className="dialog-buttons">
          <button type="submit" className="main" disabled={template === undefined}>
            Create
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
