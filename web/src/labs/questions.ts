/** The questions of a lab's text with their folded answers, and the comparison of an answer's numbers. */

export interface Question {
  /** Its number in the text, such as "1". */
  number: string;
  /** The answer, folded. */
  answer: HTMLDetailsElement;
  /** The placeholder of its field. */
  place: HTMLElement;
}

/** Finds the questions of a displayed text, and inserts a placeholder for a field after each. */
export function questionsOf(text: HTMLElement): Question[] {
  return [...text.querySelectorAll<HTMLDetailsElement>("details")].flatMap((answer) => {
    const before = answer.previousElementSibling;
    const number = /^(\d+)\./.exec(before?.querySelector("strong")?.textContent ?? "")?.[1];
    if (before?.tagName !== "P" || number === undefined) return [];
    const place = text.ownerDocument.createElement("div");
    place.className = "question-bar";
    answer.before(place);
    return [{ number, answer, place }];
  });
}

/** A quantity: its value in the base unit, and that unit; empty for a plain number. */
interface Figure {
  value: number;
  unit: string;
}

const PREFIXES: Record<string, number> = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, m: 1e-3, µ: 1e-6, u: 1e-6, n: 1e-9 };
const UNITS: Record<string, string> = { s: "s", "bit/s": "bit/s", bit: "bit/s", bps: "bit/s", B: "B", bytes: "B", byte: "B", "%": "%", Б: "B", байт: "B", байта: "B", "бит/с": "bit/s", бит: "bit/s", с: "s" };
const RUSSIAN: Record<string, string> = { к: "k", К: "k", М: "M", Г: "G", м: "m", мк: "µ", н: "n" };
const FIGURE =
  /(?<![\w.,])((?:[1-9]\d{0,2}(?:[ \u00a0\u202f,]\d{3}(?!\d))+|\d+)(?:[.,]\d+)?)\s*(?:(мк|[kKMGmµunкКМГмн]?)(bit\/s|bytes?|bps|bit|бит\/с|бит|байта?|s|B|Б|с|%)(?![\w/а-я])|)/gu;

/** Relative tolerance of a quantity against that of the answer. */
const TOLERANCE = 0.02;

/** The quantities in a text. A comma or a space groups thousands where three digits follow; else a comma is a decimal mark. */
export function figuresOf(text: string): Figure[] {
  return [...text.matchAll(FIGURE)].map(([, digits = "", prefix = "", unit = ""]) => {
    const plain = digits.replace(/(?<=^[1-9][\d \u00a0\u202f,]*)[ \u00a0\u202f,](?=\d{3}(?!\d))/g, "");
    const value = Number(plain.replace(",", "."));
    return { value: value * (PREFIXES[RUSSIAN[prefix] ?? prefix] ?? 1), unit: UNITS[unit] ?? "" };
  });
}

/** Compares the given answer with the expected one: null if either has no quantity. */
export function hasSameFigure(given: string, answer: string): boolean | null {
  const ours = figuresOf(given).filter(({ value }) => Number.isFinite(value));
  const theirs = figuresOf(answer).filter(({ value }) => Number.isFinite(value));
  if (ours.length === 0 || theirs.length === 0) return null;
  return ours.every((our) =>
    theirs.some(
      (their) => our.unit === their.unit && Math.abs(our.value - their.value) <= TOLERANCE * Math.abs(their.value),
    ),
  );
}
