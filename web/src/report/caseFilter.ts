/** The cases of a table: the text of cells, filters, and the order. */

/** A column, as `longfat.output.report.case_table` writes it. */
export interface Column {
  key: string;
  title: string;
  unit: string;
  shown: boolean;
  /** Numbers: one for each case, null for none, and the digits after the decimal point. */
  numbers?: (number | null)[];
  digits?: number;
  /** Texts: one for each case, or indices into the choices. */
  texts?: (string | number)[];
  choices?: string[];
}

export interface CaseData {
  rows: number;
  columns: Column[];
}

export interface Sort {
  column: Column;
  isDown: boolean;
}

type Test = (row: number) => boolean;

const MISSING = "-";
const collator = new Intl.Collator("en", { numeric: true });
const formats = new Map<number, Intl.NumberFormat>();

/** A column's title with its unit. */
export function headOf({ title, unit }: Column): string {
  return unit === "" ? title : `${title} (${unit})`;
}

export function cellText(column: Column, row: number): string {
  const text = column.texts?.[row];
  if (typeof text === "string") return text;
  if (text !== undefined) return column.choices?.[text] ?? MISSING;
  const value = column.numbers?.[row];
  return value === null || value === undefined ? MISSING : numberText(value, column.digits ?? 0);
}

function numberText(value: number, digits: number): string {
  let format = formats.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  const text = format.format(value);
  // A small number among large ones would be rounded to 0.
  return value !== 0 && !/[1-9]/.test(text) ? String(Number(value.toPrecision(2))) : text;
}

/** A filter of numbers: `> 10`, `<= 5`, `3-8`, `5`; null if it is invalid. */
export function numberTest(text: string): ((value: number) => boolean) | null {
  const compact = text.replaceAll(",", "").trim();
  const range = /^(-?[\d.]+)\s*(?:-|\.\.|to)\s*(-?[\d.]+)$/.exec(compact);
  if (range !== null) {
    const [low, high] = [Number(range[1]), Number(range[2])];
    return (value) => value >= low && value <= high;
  }
  const found = /^(<=|>=|<|>|=)?\s*(-?[\d.]+(?:e-?\d+)?)$/.exec(compact);
  const limit = Number(found?.[2]);
  if (found === null || Number.isNaN(limit)) return null;
  switch (found[1]) {
    case "<":
      return (value) => value < limit;
    case "<=":
      return (value) => value <= limit;
    case ">":
      return (value) => value > limit;
    case ">=":
      return (value) => value >= limit;
    default:
      return (value) => value === limit;
  }
}

/** The test of a column's filter; null if it is invalid. */
export function testOf(column: Column, text: string): Test | null {
  if (text === "") return () => true;
  const { texts, numbers = [] } = column;
  if (texts !== undefined) {
    if (column.choices !== undefined) return (row) => texts[row] === Number(text);
    const part = text.toLowerCase();
    return (row) => String(texts[row]).toLowerCase().includes(part);
  }
  const test = numberTest(text);
  if (test === null) return null;
  return (row) => {
    const value = numbers[row];
    return value !== null && value !== undefined && test(value);
  };
}

/** The rows that pass all tests, sorted. */
export function arranged(count: number, tests: readonly Test[], sort: Sort | null): number[] {
  const rows = Array.from({ length: count }, (_, row) => row).filter((row) => tests.every((test) => test(row)));
  if (sort === null) return rows;
  const values: readonly (string | number | null)[] = sort.column.numbers ?? sort.column.texts ?? [];
  const sign = sort.isDown ? -1 : 1;
  return rows.sort((one, other) => {
    const [first, second] = [values[one] ?? null, values[other] ?? null];
    // Missing numbers come last in either order.
    if (first === null || second === null) return Number(first === null) - Number(second === null) || one - other;
    const order = typeof first === "number" && typeof second === "number" ? first - second : collator.compare(String(first), String(second));
    return sign * order || one - other;
  });
}

/** Rows as CSV; numbers in full. */
export function csvOf(columns: readonly Column[], rows: readonly number[]): string {
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (column: Column, row: number) => (column.numbers === undefined ? cellText(column, row) : String(column.numbers[row] ?? ""));
  const lines = [columns.map(headOf), ...rows.map((row) => columns.map((column) => cell(column, row)))];
  return `${lines.map((line) => line.map(quoted).join(",")).join("\n")}\n`;
}
