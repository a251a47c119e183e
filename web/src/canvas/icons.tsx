/** The pictures of hosts, switches and routers, and of the tools. They take the text's colour. */

import { createElement } from "react";
import type { ReactNode } from "react";
import type { NodeKind } from "../documents/drawing";
import { SHAPES } from "./shapes";

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
  return <Icon size={size}>{SHAPES[kind].map(({ tag, attributes }, index) => createElement(tag, { key: index, ...attributes }))}</Icon>;
}

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
  note: (
    <Icon size={20}>
      <path d="M5 4.5h14v10l-5 5H5Z" />
      <path d="M19 14.5h-5v5M8 9h8M8 12.5h5" />
    </Icon>
  ),
};
