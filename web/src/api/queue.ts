/** Where a class shares a computer, a machine may have to be waited for: the page asks until it is its turn. */

import { ApiError } from "./client";

const ASK_AGAIN_MS = 2000;

/**
 * Ask until it is one's turn.
 *
 * @param onWait - called with what is waited for, at each refusal.
 * @param isWanted - false once nobody wants it any more: the refusal is raised then.
 */
export async function whenItsTurn<T>(ask: () => Promise<T>, onWait: (words: string) => void, isWanted: () => boolean = () => true): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ApiError && error.queued && isWanted())) throw error;
      onWait(error.message);
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      if (!isWanted()) throw error;
    }
  }
}
