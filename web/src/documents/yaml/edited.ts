/** An atomic change of a text. */

import { visit } from "yaml";
import { Draft, EditError } from "./draft";
import type { Source } from "./source";

/**
 * Makes a change of a text.
 *
 * Throws EditError if it cannot be made, or would make the text invalid: such as by
 * removing a line that others refer to by `*name`.
 */
export function edited(text: string, change: (draft: Draft) => void): string {
  const draft = new Draft(text);
  const before = brokenness(draft.source);
  change(draft);
  const after = brokenness(draft.source);
  const shared = after.unresolved[0];
  if (shared !== undefined && after.unresolved.length > before.unresolved.length) {
    throw new EditError(`Other lines refer to this one by *${shared}. Change it in the text.`);
  }
  if (after.errors.length > before.errors.length) {
    throw new EditError(`This would break the text (${after.errors[0] ?? "not YAML"}). Change it in the text.`);
  }
  return draft.text;
}

function brokenness(source: Source): { errors: string[]; unresolved: string[] } {
  const unresolved: string[] = [];
  visit(source.tree, {
    Alias(_, alias) {
      if (alias.resolve(source.tree) === undefined) unresolved.push(alias.source);
    },
  });
  return { errors: source.tree.errors.map((error) => error.message), unresolved };
}
