/** A link: its ends, and its properties in each direction, with the resulting tc commands. */

import { useId, useState } from "react";
import type { CheckedLink } from "../api/types";
import { useFields } from "../app/server";
import { deleteSelection, moveEnd } from "../canvas/commands";
import { change } from "../documents/change";
import { effective } from "../documents/drawing";
import type { Drawing, DrawnLink } from "../documents/drawing";
import { makeSame, setLinkAddress, setLinkField, setProperty } from "../documents/edits/links";
import type { Side } from "../documents/edits/links";
import type { StudyDocument } from "../documents/model";
import { formatQuantity } from "../live/quantities";
import { DeclaredFlags, DeclaredTexts } from "./DeclaredFields";
import { Check, Choice, Field } from "./Field";
import { LiveLosses } from "./LiveLosses";
import { fieldName, problemOf } from "./problems";

/** Round-trip time and bandwidth-delay product of the link; null without any delay. */
export function roundTrip({ impairments }: Pick<CheckedLink, "impairments">, direction: 0 | 1): string | null {
  const rtt_s = (impairments[0].delay_s ?? 0) + (impairments[1].delay_s ?? 0);
  if (rtt_s === 0) return null;
  const { rate_bps } = impairments[direction];
  const words = `RTT ${formatQuantity(rtt_s, "s")}`;
  return rate_bps === null ? `${words}; no BDP without a rate` : `${words}; BDP ${formatQuantity((rate_bps * rtt_s) / 8, "bytes")}`;
}

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

interface LinkProps {
  document: StudyDocument;
  drawing: Drawing;
  link: DrawnLink;
}

export function LinkProperties({ document, drawing, link }: LinkProps) {
  const [a, b] = link.ends;
  const differs = Object.keys(link.towards[0]).length + Object.keys(link.towards[1]).length > 0;
  const [split, setSplit] = useState(false);
  const own = useFields().link;
  const valueOf = (key: string) => link.common[key] ?? "";
  const set = (key: string, typed: string | null) =>
    change(document.id, (text, now) => setLinkField(text, now.networkPath, fresh(now, link), key, typed), { joins: true });
  const both = !differs && !split;
  const field = fieldName([...drawing.networkPath, "links", link.index]);
  const problems = document.check?.problems ?? [];
  const whole = problems.find((one) => one.field === field);
  return (
    <>
      <header className="panel-title">
        <h2>
          Link {a} – {b}
        </h2>
      </header>
      <div className="button-row">
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete
        </button>
      </div>
      {whole !== undefined && <p className="field-problem">{whole.message}</p>}
      <LiveLosses sessionId={document.sessionId} node={null} interfaces={link.interfaces} />
      <section className="group" aria-label="Directions">
        <Check
          label="Same both ways"
          value={both}
          commit={(same) => {
            setSplit(!same);
            if (same && differs) change(document.id, (text) => makeSame(text, drawing.networkPath, link, effective(link, 0)));
          }}
        />
      </section>
      {both ? (
        <Direction document={document} drawing={drawing} link={link} side="both" title="Each way" />
      ) : (
        <>
          <Direction document={document} drawing={drawing} link={link} side={0} title={`${a} → ${b}`} />
          <Direction document={document} drawing={drawing} link={link} side={1} title={`${b} → ${a}`} />
        </>
      )}
      <section className="group" aria-label="Ends">
        <h3>Ends</h3>
        <div className="fields">
          {([0, 1] as const).map((end) => (
            <Choice
              key={`end-${end}`}
              label={end === 0 ? "From" : "To"}
              value={link.ends[end]}
              choices={drawing.nodes.filter(({ name }) => name !== link.ends[1 - end]).map(({ name }) => ({ value: name, label: name }))}
              commit={(name) => moveEnd(document.id, link.index, end, name)}
            />
          ))}
          {([0, 1] as const).map((end) => (
            <Field
              key={end}
              label={`Address of ${link.interfaces[end]}`}
              value={link.addresses[end] ?? ""}
              placeholder={endAddress(document, link, end) ?? "none"}
              problem={problemOf(problems, `${field}.addresses.${link.ends[end]}`)?.message ?? null}
              commit={(typed) => change(document.id, (text, now) => setLinkAddress(text, now.networkPath, fresh(now, link), end, typed || null), { joins: true })}
            />
          ))}
          <DeclaredTexts fields={own} valueOf={valueOf} problemOf={(key) => problemOf(problems, `${field}.${key}`)?.message ?? null} commit={set} />
        </div>
        <DeclaredFlags fields={own} valueOf={valueOf} commit={set} />
      </section>
    </>
  );
}

function Direction({ document, drawing, link, side, title }: LinkProps & { side: Side; title: string }) {
  const fields = useFields().direction;
  const direction = side === "both" ? 0 : side;
  const shown = effective(link, direction);
  const field = fieldName([...drawing.networkPath, "links", link.index]);
  const problems = document.check?.problems ?? [];
  const own = side === "both" ? {} : link.towards[side];
  const set = (property: string, typed: string) =>
    change(document.id, (text, now) => setProperty(text, now.networkPath, fresh(now, link), property, side, typed || null), { joins: true });
  const problem = (property: string) => {
    const towards = side === "both" ? null : problemOf(problems, `${field}.to.${link.ends[1 - side] ?? ""}.${property}`);
    const common = property in own ? null : problemOf(problems, `${field}.${property}`);
    return (towards ?? common)?.message ?? null;
  };
  const checked = problems.length > 0 ? undefined : document.lastGood?.network?.links[link.index];
  const facts = checked === undefined ? null : roundTrip(checked, direction);
  return (
    <section className="group" aria-label={title}>
      <h3>{title}</h3>
      <div className="fields">
        {fields.filter(({ form }) => form !== "flag").map(({ key, label, placeholder, help }) =>
          key === "qdisc" ? (
            <Qdisc key={key} value={shown[key] ?? ""} problem={problem(key)} commit={(typed) => set(key, typed)} />
          ) : (
            <Field
              key={key}
              label={label}
              title={help}
              value={shown[key] ?? ""}
              placeholder={placeholder}
              problem={problem(key)}
              {...(key === "delay" && facts !== null ? { hint: facts } : {})}
              commit={(typed) => set(key, typed)}
            />
          ),
        )}
      </div>
      <DeclaredFlags fields={fields} valueOf={(key) => shown[key] ?? ""} commit={(key, typed) => set(key, typed ?? "")} />
      <TcLines document={document} link={link} side={side} />
    </section>
  );
}

/** The tc commands of the properties, of the last valid text. */
function TcLines({ document, link, side }: { document: StudyDocument; link: DrawnLink; side: Side }) {
  const checked = document.lastGood?.network?.links[link.index];
  if (checked === undefined) return null;
  const old = (document.check?.problems.length ?? 0) > 0;
  const lines = side === "both" ? checked.tc.flat() : checked.tc[side];
  return (
    <figure className={old ? "tc tc-old" : "tc"}>
      <figcaption>{old ? "tc commands before the last changes" : "Resulting tc commands"}</figcaption>
      {lines.length === 0 ? <p>none: packets are forwarded unchanged</p> : <pre tabIndex={0}>{lines.join("\n")}</pre>}
    </figure>
  );
}

/** The address that an end has if none is set. */
function endAddress(document: StudyDocument, link: DrawnLink, end: 0 | 1): string | null {
  return document.lastGood?.network?.links[link.index]?.addresses[end] ?? null;
}

/** The link as it is now: typing is faster than the panel is drawn. */
function fresh(drawing: Drawing, link: DrawnLink): DrawnLink {
  return drawing.links.find((one) => one.index === link.index) ?? link;
}
