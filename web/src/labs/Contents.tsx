/** A lab's table of contents: its headings, each with the steps below it that are done. */

import { useEffect, useState } from "react";

import type { LabProgress } from "../api/types";
import type { Step } from "./steps";

export interface Heading {
  id: string;
  level: number;
  words: string;
  element: HTMLElement;
  /** The steps between it and the next heading. */
  steps: Step[];
}

/** Finds the headings of a displayed text, with the steps below each. */
export function headingsOf(text: HTMLElement, steps: readonly Step[]): Heading[] {
  const found = [...text.querySelectorAll<HTMLElement>("h2[id], h3[id]")];
  return found.map((element, index) => {
    const next = found[index + 1];
    const isAfter = (one: HTMLElement, other: HTMLElement) =>
      (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
    const own = steps.filter(({ place }) => isAfter(element, place) && (next === undefined || isAfter(place, next)));
    return { id: element.id, level: Number(element.tagName.slice(1)), words: element.textContent ?? "", element, steps: own };
  });
}

interface ContentsProps {
  headings: readonly Heading[];
  progress: LabProgress | undefined;
  /** Shown beside the text rather than folded above it. */
  wide: boolean;
}

export function Contents({ headings, progress, wide }: ContentsProps) {
  const current = useCurrentHeading(headings);
  if (headings.length === 0) return null;
  const list = (
    <ol>
      {headings.map(({ id, level, words, element, steps }) => {
        const done = steps.filter(({ key }) => progress?.steps[key]?.done === true).length;
        return (
          <li key={id} className={`contents-${level}`}>
            <a
              href={`#${id}`}
              aria-current={id === current ? "location" : undefined}
              onClick={(event) => {
                event.preventDefault();
                element.scrollIntoView({ block: "start" });
                element.tabIndex = -1;
                element.focus({ preventScroll: true });
              }}
            >
              {words}
            </a>
            {steps.length > 0 && (
              <span className={done === steps.length ? "contents-count contents-done" : "contents-count"}>
                {done === steps.length ? <span aria-hidden="true">✓ </span> : null}
                {done}/{steps.length}
                <span className="unseen"> steps done</span>
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
  return (
    <nav className="lab-contents" aria-label="Contents">
      {wide ? (
        list
      ) : (
        <details>
          <summary>Contents</summary>
          {list}
        </details>
      )}
    </nav>
  );
}

/** The heading that was scrolled past last. */
function useCurrentHeading(headings: readonly Heading[]): string | null {
  const [current, setCurrent] = useState<string | null>(null);
  useEffect(() => {
    const box = headings[0]?.element.closest(".right-body");
    if (!box) return undefined;
    const look = () => {
      const top = box.getBoundingClientRect().top + 90;
      const passed = headings.filter(({ element }) => element.getBoundingClientRect().top <= top);
      setCurrent(passed[passed.length - 1]?.id ?? headings[0]?.id ?? null);
    };
    look();
    box.addEventListener("scroll", look, { passive: true });
    return () => box.removeEventListener("scroll", look);
  }, [headings]);
  return current;
}
