/** The queue discipline of a direction: a kind, and its parameters in the syntax of tc. */

import { useId } from "react";
import { Field } from "./Field";

const KINDS = ["pfifo", "bfifo", "red", "codel", "fq_codel", "pie", "cake", "sfq", "fq"];
const EXAMPLES: Record<string, string> = {
  pfifo: "limit 1000",
  bfifo: "limit 1000000",
  red: "limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02",
  codel: "target 5ms interval 100ms",
  fq_codel: "limit 10240 target 5ms",
  pie: "limit 1000 target 15ms",
  cake: "besteffort",
  sfq: "perturb 10",
  fq: "flow_limit 100",
};

export function Qdisc({ value, problem, commit }: { value: string; problem: string | null; commit: (value: string) => void }) {
  const id = useId();
  const [kind = "", ...rest] = value.trim().split(/\s+/);
  const parameters = rest.join(" ");
  const choices = kind === "" || KINDS.includes(kind) ? KINDS : [kind, ...KINDS];
  return (
    <>
      <div className="field">
        <label htmlFor={id}>Queue discipline</label>
        <select id={id} value={kind} onChange={(event) => commit(event.target.value)}>
          <option value="">default</option>
          {choices.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </div>
      {(kind !== "" || problem !== null) && (
        <Field
          label={`Parameters of ${kind || "the queue discipline"}`}
          wide
          value={parameters}
          placeholder={EXAMPLES[kind] ?? ""}
          problem={problem}
          commit={(typed) => commit(`${kind} ${typed}`.trim())}
        />
      )}
    </>
  );
}
