/** The choice of a language for labs' texts, if there is more than one. */

import { useUi } from "../app/ui";
import type { TextLanguage } from "../api/types";

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
