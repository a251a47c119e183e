// Unpacks what the page carries: JSON or code, compressed, as text in a script of no language.
"use strict";

const CAN_UNPACK = "DecompressionStream" in window;

async function unpack(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

// Makes an element with its attributes and what is in it.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
