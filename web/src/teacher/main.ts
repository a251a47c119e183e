/**
 * The teacher's page reloads itself, and sends forms. Without scripts it does so as well; with
 * this one it verifies its server before.
 */

import { errorMessage } from "../api/error";
import { verifyBeforeNavigation } from "../api/navigation";
import { verifyServer } from "../api/proof";

const reloadAfter_s = Number(document.querySelector<HTMLMetaElement>('meta[name="longfat-reload"]')?.content);

function show(message: string): void {
  const place = document.getElementById("server");
  if (place !== null) place.textContent = message;
}

function reloadLater(): void {
  setTimeout(() => {
    verifyServer().then(
      () => window.location.reload(),
      (error: unknown) => {
        show(`${errorMessage(error)} This page reloads when its server responds again.`);
        reloadLater();
      },
    );
  }, 1000 * reloadAfter_s);
}

verifyBeforeNavigation(show);
if (reloadAfter_s > 0) reloadLater();
