import { beforeEach, expect, it, vi } from "vitest";
import { isUntouched, useDocuments } from "./store";

const opened = { name: "lab.mn", path: null, lab: null, text: "title: x\n", warnings: [] };

beforeEach(() => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ ...opened, problems: [], study: null }), { status: 200 })));
  useDocuments.setState({ documents: [], currentId: null, histories: {} });
});

it("lets what is opened take the place of an empty page", async () => {
  useDocuments.getState().openNew();
  await useDocuments.getState().openText("lab.mn", "");
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["lab"]);
});

it("keeps a page that something was drawn on", async () => {
  useDocuments.getState().openNew();
  const [page] = useDocuments.getState().documents;
  if (page === undefined) throw new Error("no page");
  expect(isUntouched(page)).toBe(true);
  useDocuments.getState().setText(page.id, page.text.replace("hosts: {}", "hosts: {h1: }"));
  await useDocuments.getState().openText("lab.mn", "");
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["network-1", "lab"]);
});

it("opens a second empty page beside the first", () => {
  useDocuments.getState().openNew();
  useDocuments.getState().openNew();
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["network-1", "network-2"]);
});
