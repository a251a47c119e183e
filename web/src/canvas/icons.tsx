/** The pictures of hosts, switches and routers, and of the tools. They take the text's colour. */

import type { ReactNode } from "react";
import type { NodeKind } from "../documents/drawing";

function Icon({ size, children }: { size: number; children: ReactNode }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.6}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  );
}

export function NodeIcon({ kind, size = 30 }: { kind: NodeKind; size?: number }) {
  return <Icon size={size}>{SHAPES[kind]}</Icon>;
}

const SHAPES: Record<NodeKind, ReactNode> = {
  host: (
    <>
      <rect x="3" y="4" width="18" height="12" rx="1.5" />
      <path d="M9 20h6M12 16v4" />
    </>
  ),
  switch: (
    <>
      <rect x="2.5" y="7" width="19" height="10" rx="1.5" />
      <path d="M6 10.5h8m0 0-2-1.7m2 1.7-2 1.7M18 13.8h-8m0 0 2-1.7m-2 1.7 2 1.7" strokeWidth={1.3} />
    </>
  ),
  router: (
    <>
      <circle cx="12" cy="12" r="9" />
      <path d="M12 3.8v5m0 0-1.8-1.8M12 8.8l1.8-1.8M12 20.2v-5m0 0-1.8 1.8m1.8-1.8 1.8 1.8M9 12H3.8m0 0L5.6 10.2M3.8 12l1.8 1.8M15 12h5.2m0 0-1.8-1.8m1.8 1.8-1.8 1.8" strokeWidth={1.3} />
    </>
  ),
};

export const ToolIcon = {
  select: (
    <Icon size={20}>
      <path d="M6 3.5 18.5 12l-5.6 1.2L16 19.5l-2.4 1.1-3-6.2L6.4 18Z" />
    </Icon>
  ),
  host: <NodeIcon kind="host" size={20} />,
  switch: <NodeIcon kind="switch" size={20} />,
  router: <NodeIcon kind="router" size={20} />,
  link: (
    <Icon size={20}>
      <circle cx="5" cy="18" r="2.2" />
      <circle cx="19" cy="6" r="2.2" />
      <path d="M6.8 16.5 17.2 7.5" />
    </Icon>
  ),
  flow: (
    <Icon size={20}>
      <path d="M4 17C6 7 14 5 19 9" strokeDasharray="3 2.6" />
      <path d="m19.5 4.8-.2 4.6-4.5-.6" />
    </Icon>
  ),
};
