/** Synchronises a document and its session. */

import { useEffect } from "react";

import { deleteJson, getJson } from "../api/client";
import type { ServerState } from "../api/types";
import type { StudyDocument } from "../documents/model";
import { useDocuments } from "../documents/store";
import { sendText } from "./launch";
import { useLive } from "./store";

/** Delay after the last key press before the network is updated. */
const PAUSE_MS = 800;

/** Connects to the document's session, and sends it each valid change of the drawing. */
export function useFollowing(document: StudyDocument): void {
  const { id, sessionId, text, check, chosenCase } = document;

  useEffect(() => {
    if (sessionId !== null) useLive.getState().connect(sessionId);
  }, [sessionId]);

  // Shown when the session has ended, also after a reload: the last saved run.
  const kept = useLive((state) => (sessionId === null ? null : (state.sessions[sessionId]?.recordings.filter((one) => one.kept !== null).at(-1)?.kept ?? null)));
  useEffect(() => {
    if (kept !== null) useDocuments.getState().showRun(id, kept);
  }, [id, kept]);

  useEffect(() => {
    if (sessionId === null || check === null || check.problems.length > 0) return undefined;
    const timer = setTimeout(() => sendText(id), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [id, sessionId, text, check, chosenCase]);
}

let begun = false;

/**
 * Runs from the first document on, once for the whole page: documents whose sessions no
 * longer exist lose them, and closing a document ends its session.
 */
export function useSessionCleanup(): void {
  useEffect(() => {
    if (begun) return;
    begun = true;
    void detachLostSessions();
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
  // If the server is unreachable, its sessions are gone as well.
  void deleteJson(`/api/sessions/${encodeURIComponent(sessionId)}`).catch(() => undefined);
}

async function detachLostSessions(): Promise<void> {
  let state: ServerState;
  try {
    state = await getJson<ServerState>("/api/state");
  } catch {
    return; // The sockets will detect it by themselves.
  }
  const known = new Set(state.sessions.map((session) => session.id));
  const { documents, setSession } = useDocuments.getState();
  for (const { id, sessionId } of documents) {
    // One that was started during the request is connected already.
    if (sessionId === null || known.has(sessionId)) continue;
    if (useLive.getState().sessions[sessionId]?.link === "open") continue;
    useLive.getState().disconnect(sessionId);
    setSession(id, null);
  }
}
