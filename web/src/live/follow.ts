/** What keeps a document and its session together while both live. */

import { useEffect } from "react";

import { deleteJson, getJson } from "../api/client";
import type { ServerState } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { tellText } from "./launch";
import { useLive } from "./store";

/** So long a person may pause between two keys without the network following. */
const PAUSE_MS = 800;

/** Connect to the document's session, and tell it each change of the drawing that has no problems. */
export function useFollowing(document: StudyDocument): void {
  const { id, sessionId, text, check, chosenCase } = document;

  useEffect(() => {
    if (sessionId !== null) useLive.getState().connect(sessionId);
  }, [sessionId]);

  // What is shown when the session is over, also after a reload: the last run that was kept.
  const kept = useLive((state) => (sessionId === null ? null : (state.sessions[sessionId]?.recordings.filter((one) => one.kept !== null).at(-1)?.kept ?? null)));
  useEffect(() => {
    if (kept !== null) useDocuments.getState().showRun(id, kept);
  }, [id, kept]);

  useEffect(() => {
    if (sessionId === null || check === null || check.problems.length > 0) return undefined;
    const timer = setTimeout(() => tellText(id), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [id, sessionId, text, check, chosenCase]);
}

let begun = false;

/**
 * From the first document on, and once for the whole page: documents whose
 * sessions are gone lose them, and a document that is closed takes its session with it.
 */
export function useForgetting(): void {
  useEffect(() => {
    if (begun) return;
    begun = true;
    void forgetLostSessions();
    useDocuments.subscribe((now, last) => {
      if (now.documents === last.documents) return;
      const open = new Set(now.documents.map(({ id }) => id));
      for (const { id, sessionId } of last.documents) {
        if (!open.has(id) && sessionId !== null) endOf(sessionId);
      }
    });
  }, []);
}

function endOf(sessionId: string): void {
  useLive.getState().disconnect(sessionId);
  // Where the server is away, its sessions are gone as well.
  void deleteJson(`/api/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined);
}

async function forgetLostSessions(): Promise<void> {
  let state: ServerState;
  try {
    state = await getJson<ServerState>("/api/state");
  } catch {
    return; // Not now: the sockets find out by themselves.
  }
  const known = new Set(state.sessions.map((session) => session.id));
  const { documents, setSession } = useDocuments.getState();
  for (const { id, sessionId } of documents) {
    // One that was started while we asked is connected already.
    if (sessionId === null || known.has(sessionId)) continue;
    if (useLive.getState().sessions[sessionId]?.link === "open") continue;
    useLive.getState().disconnect(sessionId);
    setSession(id, null);
  }
}
