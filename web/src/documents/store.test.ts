// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";

import { stubServer } from "../api/testServer";
import { isUntouched, useDocuments } from "./store";

const opened = { name: "lab.mn", path: null, lab: null, text: "title: x\n", warnings: [] };

beforeEach(() => {
  // It gives no names here: the page gives its own, as where the server is away.
  const answer = () => new Response(JSON.stringify({ ...opened, problems: [], study: null }), { status: 200 });
  stubServer((path) => (path.startsWith("/api/drafts") ? Promise.reject(new Error("away")) : Promise.resolve(answer())));
  useDocuments.setState({ documents: [], currentId: null, histories: {} });
});

it("replaces an untouched page by an opened document", async () => {
  await useDocuments.getState().openNew();
  await useDocuments.getState().openText("lab.mn", "");
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["lab"]);
});

it("keeps a page with a drawing", async () => {
  await useDocuments.getState().openNew();
  const [page] = useDocuments.getState().documents;
  if (page === undefined) throw new Error("no page");
  expect(isUntouched(page)).toBe(true);
  useDocuments.getState().setText(page.id, page.text.replace("hosts: []", "hosts: [h1]"));
  await useDocuments.getState().openText("lab.mn", "");
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["network-1", "lab"]);
});

it("opens a second empty page beside the first", async () => {
  await useDocuments.getState().openNew();
  await useDocuments.getState().openNew();
  expect(useDocuments.getState().documents.map(({ name }) => name)).toEqual(["network-1", "network-2"]);
});

it("stays on another page when the first network is loaded", async () => {
  const draft = { id: "1", name: "network-1", path: null, lab: null, text: "title: Network 1\n", saved_text: "", imported: null, session: null, undo: [], redo: [], version: 1 };
  stubServer(() => Promise.resolve(new Response(JSON.stringify({ ...draft, problems: [], study: null }), { status: 200 })));
  const { shown } = useDocuments.getState();
  await useDocuments.getState().openNew({ first: true });
  expect(useDocuments.getState().currentId).toBe("1");
  expect(useDocuments.getState().shown).toBe(shown);
});
