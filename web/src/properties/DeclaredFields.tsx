/** The inputs of fields that the server declares: text fields, and below them check boxes. */

import type { FieldInfo } from "../api/types";
import { isOn } from "../documents/drawing";
import { Check, Field } from "./Field";

interface DeclaredProps {
  fields: readonly FieldInfo[];
  /** As typed; undefined where several have different values. */
  valueOf: (key: string) => string | undefined;
  /** Null removes the field. */
  commit: (key: string, typed: string | null) => unknown;
}

interface DeclaredTextsProps extends DeclaredProps {
  problemOf: (key: string) => string | null;
}

export function DeclaredTexts({ fields, valueOf, problemOf, commit }: DeclaredTextsProps) {
  return fields
    .filter(({ form }) => form !== "flag")
    .map(({ key, label, placeholder, help }) => {
      const value = valueOf(key);
      return (
        <Field
          key={key}
          label={label}
          title={help}
          value={value ?? ""}
          placeholder={value === undefined ? "several values" : placeholder}
          problem={problemOf(key)}
          commit={(typed) => commit(key, typed || null)}
        />
      );
    });
}

export function DeclaredFlags({ fields, valueOf, commit }: DeclaredProps) {
  return fields
    .filter(({ form }) => form === "flag")
    .map(({ key, label, help }) => (
      <Check key={key} label={label} title={help} value={isOn(valueOf(key))} commit={(on) => commit(key, on ? "yes" : null)} />
    ));
}
