/** The choice of a language for labs' texts, if there is more than one. */

import type { TextLanguage } from "../api/types";
import { useUi } from "../app/ui";

interface LanguageSelectProps {
  /** The language of the displayed text. */
  language: string;
  languages: TextLanguage[];
}

export function LanguageSelect({ language, languages }: LanguageSelectProps) {
  if (languages.length < 2) return null;
  return (
    <label className="lab-language">
      Language
      <select value={language} onChange={(event) => useUi.getState().set({ language: event.target.value })}>
        {languages.map(({ code, label }) => (
          <option key={code} value={code} lang={code}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The languages, the preferred first. The server picks one that a text has. */
export function preferredLanguages(chosen = useUi.getState().language, browser = navigator.languages): string[] {
  return chosen === "" ? [...browser] : [chosen, ...browser];
}

/** Which of some languages is preferred, for the list of labs; not all labs need have it. */
export function shownLanguage(languages: readonly TextLanguage[], preferred = preferredLanguages()): string {
  const codes = languages.map(({ code }) => code);
  const found = preferred.map((tag) => codes.find((code) => code === tag) ?? codes.find((code) => code === tag.split("-")[0]));
  return found.find((code) => code !== undefined) ?? "en";
}

/** The languages as the query of a URL, without its question mark. */
export function languageQuery(chosen = useUi.getState().language): string {
  return preferredLanguages(chosen)
    .map((code) => `languages=${encodeURIComponent(code)}`)
    .join("&");
}
