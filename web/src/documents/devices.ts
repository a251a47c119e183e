/** The Linux names of interfaces of nodes with long names, as in `longfat.model.network.devices`. */

/** "-eth00" fits behind it into the 15 characters of an interface's name. */
const MAX_STEM_LENGTH = 9;

export const MAX_NODE_NAME_LENGTH = 32;

/** `STEM-eth0` is the node's interface. */
export function deviceStem(name: string): string {
  if (name.length <= MAX_STEM_LENGTH) return name;
  const digits = crc32(name).toString(36).padStart(5, "0").slice(-5);
  return `${name.slice(0, 3)}_${digits}`;
}

/** CRC-32 as zlib has it (polynomial 0xEDB88320, reflected). */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
