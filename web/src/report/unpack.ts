/** Embedded data of a page: compressed JSON in base64, as the text of a data script. */

export const canUnpack = "DecompressionStream" in window;

/** Returns the data of an element of the page; null if there is none. */
export async function unpack<Content>(id: string): Promise<Content | null> {
  const holder = document.getElementById(id);
  if (holder === null) return null;
  const packed = atob(holder.textContent ?? "");
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Content;
}
