/** What a gateway was compiled by, and from. */
export interface BuildInfo {
  /** The version of gwc. */
  readonly version: string;
  /** Hexadecimal digits, the same for the same generated code: two gateways with one digest do the same. */
  readonly configDigest: string;
}

/** Set when a bundle is made (compiler/4-emit/bundle.ts). */
declare const GWC_BUILD: BuildInfo | undefined;

/** What this bundle was made of; both are empty where generated code runs without a bundle. */
export const bundleInfo: BuildInfo =
  typeof GWC_BUILD === "undefined" ? { version: "", configDigest: "" } : GWC_BUILD;
