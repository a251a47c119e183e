// @vitest-environment jsdom
import { expect, it } from "vitest";

import { hasSameFigure, questionsOf } from "./questions";

it("finds questions with their answers, and makes a place between the two", () => {
  const text = document.createElement("div");
  text.innerHTML =
    "<p><strong>1. Why?</strong></p><details><summary>Answer</summary><p>So.</p></details>" +
    "<p>No question.</p><details><summary>More</summary></details>";
  const questions = questionsOf(text);
  expect(questions.map(({ number }) => number)).toEqual(["1"]);
  expect(questions[0]?.place.nextElementSibling?.tagName).toBe("DETAILS");
});

it.each([
  ["60 ms", "60 ms, since request and reply are delayed by 30 ms each.", true],
  ["0.06 s", "60 ms, since request and reply are delayed by 30 ms each.", true],
  ["60", "60 ms, since request and reply are delayed by 30 ms each.", false],
  ["59.5ms", "60 ms", true],
  ["50 ms", "60 ms", false],
  ["168 Mbit/s", "3 x 1,048,576 x 8 / 0.15 = 168 Mbit/s at most", true],
  ["168 MB", "168 Mbit/s at most", false],
  ["3330", "(5.77 / 0.1)^2 = 3330.", true],
  ["2,5 МБ", "BDP = 500 x 10^6 x 0.04 / 8 = 2.5 МБ", true],
  ["62500 bytes", "62\u00a0500 байт", true],
  ["62 500 Б", "62\u00a0500 байт", true],
  ["62 500 bytes", "62,500 bytes", true],
  ["1 048 576 B", "1,048,576 bytes", true],
  ["0,125 s", "125 ms", true],
  ["because of ARP", "h1 has to ask. With 100 ms at h1 the first ping takes 200 ms.", null],
  ["60 ms", "They look the same.", null],
])("%s beside %s: %s", (given, answer, same) => {
  expect(hasSameFigure(given, answer)).toBe(same);
});
