import type { RequestVariables } from "../../cel/variables.ts";

/** Place of a credential in a request. */
export type CredentialLocation =
  /** Lower-case name; `prefix` precedes the credential, with its space, in any case. Empty if there is no prefix. */
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  /** Credentials found by an expression are not removed, because only its author knows where they are. */
  | { readonly expression: (request: RequestVariables) => unknown };

/** Describes the place for readers of the log. */
export function locationName(location: CredentialLocation): string {
  if ("header" in location) return location.header;
  if ("queryParameter" in location) return `the parameter ${location.queryParameter}`;
  if ("cookie" in location) return `the cookie ${location.cookie}`;
  return "the result of the location's expression";
}

/** Policy that a credential belongs to. */
export type CredentialKind = "jwt" | "basicAuth" | "apiKey";

/** A credential that was checked and stripped from a request. */
export interface StrippedCredential {
  readonly kind: CredentialKind;
  readonly location: CredentialLocation;
  /** The removed value: the header's whole value, the parameter's or the cookie's. */
  readonly value: string;
  readonly before: StrippedCredential | undefined;
}
