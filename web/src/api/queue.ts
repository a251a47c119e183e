/** Where a class shares a computer, requests for a machine are queued: the page retries until its turn comes. */

import { ApiError } from "./client";

const ASK_AGAIN_MS = 2000;

/**
 * Repeats a request until it is no longer queued.
 *
 * @param onWait - called with the reason for the wait, each time the request is queued.
 * @param isWanted - returns false to stop retrying: the last error is thrown then.
 */
export async function retryWhileQueued<T>(request: () => Promise<T>, onWait: (words: string) => void, isWanted: () => boolean = () => true): Promise<T> {
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ApiError && error.queued && isWanted())) throw error;
      onWait(error.message);
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
      if (!isWanted()) throw error;
    }
  }
}
