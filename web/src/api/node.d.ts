/** What tests use of Node: the page has no types of it. */
declare module "node:crypto" {
  export const webcrypto: Crypto;
}
