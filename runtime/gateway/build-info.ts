/** The compiler and configuration that a gateway was built from. */
export interface BuildInfo {
  /** Version of gwc. */
  readonly version: string;
  /** Hexadecimal digits that identify the generated code: gateways with the same digest behave alike. */
  readonly configDigest: string;
}

/** Defined when a bundle is made (compiler/4-emit/bundle.ts). */
declare const GWC_BUILD: BuildInfo | undefined;

/** Build of this bundle; both fields are empty if generated code runs without one. */
export const bundleInfo: BuildInfo =
  typeof GWC_BUILD === "undefined" ? { version: "", configDigest: "" } : GWC_BUILD;
