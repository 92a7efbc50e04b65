import type { RequestVariables } from "../../cel/variables.ts";

/** Where a credential stands in a request. */
export type CredentialLocation =
  /** Lower-case name; `prefix` stands before it, with its space, in any case. Empty: nothing. */
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  /** What it finds stays where it is: only its author knows where that was. */
  | { readonly expression: (request: RequestVariables) => unknown };

/** Whose credential it is. */
export type CredentialKind = "jwt" | "basicAuth" | "apiKey";

/** A credential that was checked and stripped from a request. */
export interface StrippedCredential {
  readonly kind: CredentialKind;
  readonly location: CredentialLocation;
  /** What stood in its place: the header's whole value, the parameter's or the cookie's. */
  readonly value: string;
  readonly before: StrippedCredential | undefined;
}
