/** A new study of a common topology, with its parameters. */

import { useEffect, useState } from "react";
import { getJson, errorMessage } from "../api/client";
import type { Template } from "../api/types";
import { Dialog } from "../app/Dialog";
import { useDocuments } from "../documents/store";

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
        <div className="template-list" role="radiogroup" aria-label="Template">
          {templates.map((one) => (
            <label key={one.name} className={one.name === name ? "template template-chosen" : "template"}>
              <input
                type="radio"
                name="template"
                checked={one.name === name}
                onChange={() => {
                  setName(one.name);
                  setProblem(null);
                }}
              />
              <span>
                <strong>{one.title}</strong>
                <span className="dim">{one.help}</span>
              </span>
            </label>
          ))}
        </div>
        {template !== undefined && (
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
