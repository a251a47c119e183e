import { beforeEach, expect, it } from "vitest";

import type { Advice } from "../api/types";
import { useDocuments } from "../documents/store";
import { changeStudy, fixOf } from "./fix";

const TEXT = `title: t
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows:
  bulk: {iperf3: h1 -> h2, time: 5s}   # the one
`;
const advice: Advice = { answer: "", verdict: "", notes: [], fixes: [] };

beforeEach(() => {
  useDocuments.setState({ documents: [], histories: {} });
});

it("sets fields of a flow in the study, and leaves the rest of it as it was", () => {
  const document = { id: "d", name: "t", path: null, lab: null, text: TEXT, savedText: TEXT, version: null, imported: null, shownRun: null, check: null };
  useDocuments.setState({ documents: [{ ...document, lastGood: null, chosenCase: null, sessionId: null }] });
  const study = [{ field: "parallel", value: "9" }, { field: "congestion", value: "bbr" }];
  expect(changeStudy("d", "bulk", study)).toBe(true);
  const { text } = useDocuments.getState().documents[0] ?? { text: "" };
  expect(text).toBe(TEXT.replace("time: 5s}", "time: 5s, parallel: 9, congestion: bbr}"));
  expect(changeStudy("d", "gone", study)).toBe(false);
});

it("tries the recommended fix, and no alternative", () => {
  expect(fixOf(advice)).toBeUndefined();
  const fix = { lines: [{ node: "h1", line: "true" }], study: [], takes_from: [] };
  const other = { lines: [], study: [{ field: "parallel", value: "9" }], takes_from: ["two"] };
  expect(fixOf({ ...advice, fixes: [fix, other] })).toEqual(fix);
});
