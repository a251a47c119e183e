/** The Linux names of interfaces of nodes with long names, as in `longfat.model.network.devices`. */

const MAX_INTERFACE_LENGTH = 15;

/** "-eth0" fits behind it into an interface's name. */
const MAX_STEM_LENGTH = 10;

export const MAX_NODE_NAME_LENGTH = 32;

/** `STEM-eth0` is the node's first interface. */
export function deviceStem(name: string): string {
  return name.length <= MAX_STEM_LENGTH ? name : shortStem(name);
}

/** The name of the node's interface of a number. */
export function deviceName(name: string, number: number): string {
  const device = `${deviceStem(name)}-eth${number}`;
  const shortened = `${shortStem(name)}-eth${number}`;
  return device.length > MAX_INTERFACE_LENGTH && shortened.length <= MAX_INTERFACE_LENGTH ? shortened : device;
}

/** What the node's interfaces are named by where its own name is too long. */
export function shortStem(name: string): string {
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
