// @vitest-environment jsdom
import { expect, test } from "vitest";

import { languageQuery, preferredLanguages, shownLanguage } from "./LanguageSelect";

const THERE = [
  { code: "en", label: "English" },
  { code: "ru", label: "Русский" },
];

test("the user's choice precedes the browser's preference", () => {
  expect(preferredLanguages("", ["es-MX", "en"])).toEqual(["es-MX", "en"]);
  expect(preferredLanguages("ru", ["es-MX", "en"])).toEqual(["ru", "es-MX", "en"]);
  expect(languageQuery("r u").startsWith("languages=r%20u")).toBe(true);
});

test("a region's language is that of all regions, and English is the fallback", () => {
  expect(shownLanguage(THERE, ["es-MX", "ru-RU", "en"])).toBe("ru");
  expect(shownLanguage(THERE, ["en-GB", "ru"])).toBe("en");
  expect(shownLanguage(THERE, ["de"])).toBe("en");
});
