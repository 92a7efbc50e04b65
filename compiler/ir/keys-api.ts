import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CompiledExpression } from "../model/expressions.ts";
import type { MountedFile } from "../model/texts.ts";
import type { JwtProviderNode } from "../policies/jwt-auth.ts";

/** HTTP API for API keys of the store. */
export interface KeysApiNode {
  readonly port: number;
  readonly address: string;
  /** File with the key of its clients; `undefined` if there is none. */
  readonly key:
    | { readonly kind: "path"; readonly file: string; readonly origin: Origin }
    | MountedFile
    | undefined;
  /** Issuer of tokens that its clients may send, and which requests they allow; `undefined` if there is none. */
  readonly jwt:
    | { readonly provider: JwtProviderNode; readonly rule: CompiledExpression }
    | undefined;
  readonly origin: Origin;
}
