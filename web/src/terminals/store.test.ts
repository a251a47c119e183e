// @vitest-environment jsdom
import { describe, expect, it } from "vitest";

import { MAX_PANES, NO_PANES, aloneAgain, beside, shown, updated, without } from "./store";

const nodes = (...ids: number[]) => ids.map((id) => ({ id, node: `h${id}` }));

describe("panes", () => {
  it("are added side by side while there is room, then in place of the active one", () => {
    let panes = NO_PANES;
    for (let id = 1; id <= MAX_PANES; id += 1) panes = beside(panes, id);
    expect(panes.shown).toEqual([1, 2, 3, 4]);
    panes = beside(panes, 9);
    expect(panes).toMatchObject({ shown: [1, 2, 3, 9], active: 9 });
  });

  it("show one in place of the active one, and focus it", () => {
    const panes = shown(beside(beside(NO_PANES, 1), 2), 3);
    expect(panes).toMatchObject({ shown: [1, 3], active: 3 });
    expect(shown(panes, 1)).toMatchObject({ shown: [1, 3], active: 1, focus: panes.focus + 1 });
    expect(aloneAgain(panes).shown).toEqual([3]);
  });

  it("lose one that is closed", () => {
    const panes = without(beside(beside(NO_PANES, 1), 2), 2);
    expect(panes).toMatchObject({ shown: [1], active: 1, closed: [2] });
  });
});

describe("updated", () => {
  it("shows new terminals, and focuses the one that was requested", () => {
    const before = updated({ ...NO_PANES, wanted: "h2" }, nodes(1, 2), new Set());
    expect(before).toMatchObject({ shown: [1, 2], active: 2, wanted: null });
  });

  it("leaves a hidden one hidden, and a closed one closed", () => {
    const panes = without(shown(beside(NO_PANES, 1), 2), 3);
    expect(updated(panes, nodes(1, 2, 3), new Set([1, 2])).shown).toEqual([2]);
  });

  it("drops those that no longer exist", () => {
    const panes = beside(beside(NO_PANES, 1), 2);
    expect(updated(panes, nodes(1), new Set([1, 2]))).toMatchObject({ shown: [1], active: 1 });
  });
});
