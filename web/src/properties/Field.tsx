/** One property: label, input, and error message. */

import type { ChangeEvent, KeyboardEvent } from "react";
import { useEffect, useId, useRef, useState } from "react";

interface FieldProps {
  label: string;
  value: string;
  /** The server's error message, or null. */
  problem?: string | null;
  placeholder?: string;
  hint?: string;
  /** The tooltip. */
  title?: string;
  /** Suggestions; other values can be typed. */
  options?: readonly string[];
  /** Commit at every key, or only on Enter or when the field loses the focus. */
  when?: "typed" | "finished";
  wide?: boolean;
  /** A long line, wrapped, without a label above it. */
  area?: boolean;
  disabled?: boolean;
  commit: (value: string) => void;
}

export function Field({ label, value, problem, placeholder, hint, title, options, when = "typed", wide, area, disabled, commit }: FieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  const focused = useRef(false);
  useEffect(() => {
    // Input is not replaced while the field is being edited.
    if (!focused.current) setTyped(value);
  }, [value]);
  const finish = () => {
    if (when === "finished" && typed.trim() !== value) commit(typed.trim());
  };
  const shared = {
    id,
    value: typed,
    placeholder,
    title,
    disabled,
    "aria-invalid": problem ? true : undefined,
    "aria-describedby": problem ? `${id}-problem` : hint ? `${id}-hint` : undefined,
    spellCheck: false,
    autoComplete: "off",
    onFocus: () => (focused.current = true),
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      setTyped(event.target.value);
      if (when === "typed") commit(event.target.value.trim());
    },
    onBlur: () => {
      focused.current = false;
      finish();
      // If the change failed, the value of the text is restored.
      if (when === "finished") setTyped(value);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter") {
        event.preventDefault();
        finish();
      }
      if (event.key === "Escape" && when === "finished") setTyped(value);
    },
  };
  return (
    <div className={wide || area ? "field field-wide" : "field"}>
      <label htmlFor={id} className={area ? "for-readers" : undefined}>
        {label}
      </label>
      {area ? <textarea rows={1} {...shared} /> : <input type="text" list={options === undefined ? undefined : `${id}-options`} {...shared} />}
      {options !== undefined && (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      {hint !== undefined && !problem && (
        <p className="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="field-problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

export function Check({ label, title, value, commit }: { label: string; title?: string; value: boolean; commit: (value: boolean) => void }) {
  return (
    <label className="check" title={title}>
      <input type="checkbox" checked={value} onChange={(event) => commit(event.target.checked)} />
      {label}
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  choices: readonly { value: string; label: string }[];
  problem?: string | null;
  commit: (value: string) => void;
}

export function Choice({ label, value, choices, problem, commit }: ChoiceProps) {
  const id = useId();
  const all = choices.some((one) => one.value === value) ? choices : [{ value, label: value || "—" }, ...choices];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} aria-invalid={problem ? true : undefined} onChange={(event) => commit(event.target.value)}>
        {all.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
      {problem && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
