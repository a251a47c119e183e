/** Elements without React. */

/** Creates an element with its attributes and children. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Creates a button with a symbol. */
export function signButton(label: string, sign: string, press: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", "aria-label": label, title: label }, sign);
  made.addEventListener("click", press);
  return made;
}
