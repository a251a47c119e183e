/** What a reload keeps: the tabs with their texts, in the browser's own store. */

import type { StudyDocument } from "./model";

const KEY = "longfat-studio-documents";

export interface Kept {
  documents: StudyDocument[];
  currentId: string | null;
}

export function readKept(): Kept {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (isKept(kept)) {
      return { currentId: kept.currentId, documents: kept.documents.map((one) => ({ ...one, check: null, lastGood: null })) };
    }
  } catch {
    // A store that is off, full of something else or cut short: begin anew.
  }
  return { documents: [], currentId: null };
}

export function keep({ documents, currentId }: Kept): void {
  try {
    // What the server says of a text can be asked again.
    const small = documents.map((one) => ({ ...one, check: null, lastGood: null }));
    localStorage.setItem(KEY, JSON.stringify({ documents: small, currentId }));
  } catch {
    // Private windows and full stores: the page works without.
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null || !("documents" in value) || !("currentId" in value)) return false;
  return Array.isArray(value.documents) && value.documents.every(isDocument);
}

function isDocument(value: unknown): value is StudyDocument {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  return ["id", "name", "text", "savedText"].every((key) => typeof fields[key] === "string");
}
