/** Claims of a study, and whether they hold. */

import type { ClaimRow } from "../api/types";

export function Claims({ claims }: { claims: readonly ClaimRow[] }) {
  const held = claims.filter((claim) => claim.holds === true).length;
  const known = claims.filter((claim) => claim.holds !== null).length;
  return (
    <section aria-label="Claims">
      <h2>
        Claims{" "}
        <span className="dim">
          {held} of {claims.length} hold{known < claims.length ? `, ${claims.length - known} not evaluated yet` : ""}
        </span>
      </h2>
      <ul className="claims">
        {claims.map((claim) => (
          <li key={`${claim.text} ${claim.expression}`} className={markOf(claim).name} title={claim.expression}>
            <span className="claim-mark" role="img" aria-label={markOf(claim).words}>
              {markOf(claim).sign}
            </span>
            <span>
              {claim.text}
              {claim.detail !== "" && <span className="dim"> {claim.detail}</span>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function markOf({ holds }: ClaimRow): { name: string; sign: string; words: string } {
  if (holds === null) return { name: "claim-open", sign: "·", words: "not evaluated yet" };
  return holds ? { name: "claim-holds", sign: "✓", words: "holds" } : { name: "claim-fails", sign: "✗", words: "fails" };
}
