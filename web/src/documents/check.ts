/** Asking the server what is wrong with a text, once the typing rests. */

import { postJson } from "../api/client";
import type { CheckResult } from "../api/types";
import type { StudyDocument } from "./model";

const REST_MS = 150;

/** The server reads the files that a study names beside its own file, or in its lab. */
type Asked = Pick<StudyDocument, "id" | "name" | "path" | "lab">;

export interface Checker {
  /** The text of a document has changed: earlier questions about it are forgotten. */
  ask: (document: Asked, text: string) => void;
  forget: (id: string) => void;
}

export function makeChecker(
  onResult: (id: string, text: string, result: CheckResult) => void,
  onError: (error: unknown) => void,
): Checker {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const forget = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  return {
    forget,
    ask({ id, name, path, lab }, text) {
      forget(id);
      const send = () => {
        postJson<CheckResult>("/api/check", { text, name, path, lab }).then((result) => onResult(id, text, result), onError);
      };
      timers.set(id, setTimeout(send, REST_MS));
    },
  };
}
