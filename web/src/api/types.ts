/**
 * The values that server and page exchange, by subject. `longfat.studio` is the server's side;
 * fields have the same names on both.
 *
 * Times are seconds of virtual time since the machine's boot unless stated
 * otherwise; rates are bit/s, sizes bytes.
 */

export type * from "./types/check";
export type * from "./types/documents";
export type * from "./types/drafts";
export type * from "./types/session";
export type * from "./types/packets";
export type * from "./types/jobs";
export type * from "./types/progress";
export type * from "./types/exercises";
export type * from "./types/runs";
export type * from "./types/packetdrill";
