import type { Origin } from "../diagnostics/diagnostic.ts";

/** HTTP API for API keys of the store. */
export interface KeysApiNode {
  readonly port: number;
  readonly address: string;
  readonly key: { readonly kind: "path"; readonly file: string; readonly origin: Origin };
  readonly origin: Origin;
}
