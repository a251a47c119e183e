/** A selection of several elements: nodes can be aligned, grouped and coloured, links get the same properties. */

import { useFields } from "../app/server";
import { ALIGNMENTS } from "../canvas/arrange";
import { arrange, colourSelection, copySelection, deleteSelection, duplicate, groupSelection } from "../canvas/commands";
import { ALIGN_WORDS } from "../canvas/ContextMenu";
import { change } from "../documents/change";
import type { DrawnLink, DrawnNode, Drawing } from "../documents/drawing";
import { effective, readDrawing } from "../documents/drawing";
import { setLinkField, setProperty } from "../documents/edits/links";
import type { StudyDocument } from "../documents/model";
import { ColourChoice } from "./ColourChoice";
import { DeclaredFlags, DeclaredTexts } from "./DeclaredFields";

interface SelectionProps {
  document: StudyDocument;
  drawing: Drawing;
  nodes: readonly DrawnNode[];
  links: readonly DrawnLink[];
  /** The counts of each kind, as text. */
  title: string;
}

export function SelectionProperties({ document, drawing, nodes, links, title }: SelectionProps) {
  return (
    <div className="properties">
      <header className="panel-title">
        <h2>{title}</h2>
      </header>
      <div className="button-row">
        {nodes.length > 0 && (
          <>
            <button type="button" onClick={() => copySelection(document.id)}>
              Copy
            </button>
            <button type="button" onClick={() => duplicate(document.id)}>
              Duplicate
            </button>
            <button type="button" onClick={() => groupSelection(document.id)}>
              Group
            </button>
          </>
        )}
        <button type="button" className="danger" onClick={() => deleteSelection(document.id)}>
          Delete
        </button>
      </div>
      {nodes.length > 1 && (
        <section className="group" aria-label="Arrange">
          <h3>Arrange</h3>
          <div className="arrange">
            {ALIGNMENTS.map((how) => (
              <button key={how} type="button" className="small" onClick={() => arrange(document.id, how)}>
                {ALIGN_WORDS[how]}
              </button>
            ))}
            <button type="button" className="small" disabled={nodes.length < 3} onClick={() => arrange(document.id, "x")}>
              Distribute horizontally
            </button>
            <button type="button" className="small" disabled={nodes.length < 3} onClick={() => arrange(document.id, "y")}>
              Distribute vertically
            </button>
          </div>
        </section>
      )}
      {nodes.length > 0 && (
        <section className="group" aria-label="Colour of the nodes">
          <h3>Colour</h3>
          <ColourChoice value={same(nodes.map(({ name }) => drawing.colours.get(name) ?? null))} commit={(colour) => colourSelection(document.id, colour)} />
        </section>
      )}
      {links.length > 1 && <LinksFields document={document} drawing={drawing} links={links} />}
    </div>
  );
}

/** Properties of several links, in both directions: a value applies to all of them. */
function LinksFields({ document, drawing, links }: { document: StudyDocument; drawing: Drawing; links: readonly DrawnLink[] }) {
  const { direction, link: own } = useFields();
  const fields = [...direction, ...own];
  const indexes = links.map(({ index }) => index);
  const setAll = (key: string, typed: string | null) =>
    change(
      document.id,
      (text, now) =>
        indexes.reduce((next, index) => {
          // Each edit starts from the text after the previous one.
          const link = readDrawing(next, document.chosenCase).links.find((one) => one.index === index);
          if (link === undefined) return next;
          return direction.some((field) => field.key === key)
            ? setProperty(next, now.networkPath, link, key, "both", typed)
            : setLinkField(next, now.networkPath, link, key, typed);
        }, text),
      { joins: true },
    );
  const valueOf = (key: string) => {
    const values = direction.some((field) => field.key === key)
      ? links.flatMap((link) => ([0, 1] as const).map((way) => effective(link, way)[key] ?? ""))
      : links.map((link) => link.common[key] ?? "");
    return same(values);
  };
  const problems = document.check?.problems ?? [];
  const network = drawing.networkPath.join(".");
  const problem = (key: string) =>
    problems.find(({ field }) => indexes.some((index) => field.startsWith(`${network}.links[${index}]`) && field.endsWith(`.${key}`)))?.message ?? null;
  return (
    <section className="group" aria-label="Properties of the links">
      <h3>All {links.length} links, both directions</h3>
      <div className="fields">
        <DeclaredTexts fields={fields} valueOf={valueOf} problemOf={problem} commit={setAll} />
      </div>
      <DeclaredFlags fields={fields} valueOf={valueOf} commit={setAll} />
    </section>
  );
}

/** The common value; undefined if they differ. */
function same<T>(values: readonly T[]): T | undefined {
  const [first] = values;
  return values.every((value) => value === first) ? first : undefined;
}
