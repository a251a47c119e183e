/** The choice of a language for labs' texts, where there is more than one. */

import { useUi } from "../app/ui";
import type { TextLanguage } from "../api/types";

interface LanguageSelectProps {
  /** Of the text that is shown. */
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
