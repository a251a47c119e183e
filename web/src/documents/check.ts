/** Checks a text on the server, once typing pauses. */

import { postJson } from "../api/client";
import type { CheckResult } from "../api/types";
import type { StudyDocument } from "./model";

const REST_MS = 150;

/** The server reads the files that a study names beside its own file, or in its lab. */
type CheckedDocument = Pick<StudyDocument, "id" | "name" | "path" | "lab">;

export interface Checker {
  /** The text of a document has changed: earlier checks of it are dropped. */
  check: (document: CheckedDocument, text: string) => void;
  cancel: (id: string) => void;
}

export function makeChecker(
  onResult: (id: string, text: string, result: CheckResult) => void,
  onError: (error: unknown) => void,
): Checker {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const cancel = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  return {
    cancel,
    check({ id, name, path, lab }, text) {
      cancel(id);
      const send = () => {
        postJson<CheckResult>("/api/check", { text, name, path, lab }).then((result) => onResult(id, text, result), onError);
      };
      timers.set(id, setTimeout(send, REST_MS));
    },
  };
}
