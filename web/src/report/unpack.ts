/** What a page carries: JSON, compressed, in base64, as text in a script of no language. */

export const canUnpack = "DecompressionStream" in window;

/** Return what an element of the page holds; null where there is none. */
export async function unpack<Content>(id: string): Promise<Content | null> {
  const holder = document.getElementById(id);
  if (holder === null) return null;
  const packed = atob(holder.textContent ?? "");
  const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as Content;
}
