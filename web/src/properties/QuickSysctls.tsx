/** Form fields of the sysctl settings that labs change most. */

import { notify } from "../app/notices";
import { change } from "../documents/change";
import type { Drawing } from "../documents/drawing";
import { setSysctl, sysctlOf } from "../documents/edits/setup";
import type { StudyDocument } from "../documents/model";
import { Field } from "./Field";
import { bytesOf, largestOf, sizeText, withLargest } from "./sizes";

const CONGESTION = "net.ipv4.tcp_congestion_control";
const ALGORITHMS = ["cubic", "reno", "bbr", "htcp", "dctcp", "vegas", "westwood"];

export function QuickSysctls({ document, drawing, node }: { document: StudyDocument; drawing: Drawing; node: string }) {
  const common = drawing.setup.filter((line) => line.path[0] === "setup");
  const valueOf = (key: string) => {
    const found = common.filter((line) => line.nodes.includes(node)).map((line) => sysctlOf(line.text));
    return found.filter((one) => one?.key === key).at(-1)?.value ?? "";
  };
  const set = (key: string, value: string | null) => change(document.id, (text, now) => setSysctl(text, now.setup.filter((line) => line.path[0] === "setup"), node, key, value));
  const buffer = (key: string, label: string) => {
    const sizes = valueOf(key);
    const largest = largestOf(sizes);
    return (
      <Field
        label={label}
        when="finished"
        value={largest}
        placeholder="kernel default"
        {...(largest === "" ? {} : { hint: `${sizeText(Number(largest))}` })}
        commit={(typed) => {
          const bytes = bytesOf(typed);
          if (typed === "") set(key, null);
          else if (bytes === null) notify("error", `'${typed}' is not a valid size: enter bytes, or a unit such as 50MB; less than 2 GB.`);
          else set(key, withLargest(sizes, bytes));
        }}
      />
    );
  };
  return (
    <section className="group" aria-label="TCP">
      <h3>TCP</h3>
      <div className="fields">
        {buffer("net.ipv4.tcp_rmem", "Receive buffer, max")}
        {buffer("net.ipv4.tcp_wmem", "Send buffer, max")}
        <Field
          label="Congestion control"
          when="finished"
          value={valueOf(CONGESTION)}
          placeholder="cubic"
          options={ALGORITHMS}
          commit={(typed) => set(CONGESTION, typed === "" ? null : typed)}
        />
      </div>
    </section>
  );
}
