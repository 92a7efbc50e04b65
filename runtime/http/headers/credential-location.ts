import type { RequestVariables } from "../../cel/variables.ts";

/** Where a credential stands in a request. */
export type CredentialLocation =
  /** Lower-case name; `prefix` stands before it, with its space, in any case. Empty: nothing. */
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  /** What it finds stays where it is: only its author knows where that was. */
  | { readonly expression: (request: RequestVariables) => unknown };

/** The same for whoever reads the log and looks for a credential there. */
export function locationName(location: CredentialLocation): string {
  if ("header" in location) return location.header;
  if ("queryParameter" in location) return `the parameter ${location.queryParameter}`;
  if ("cookie" in location) return `the cookie ${location.cookie}`;
  return "what the expression of its location finds";
}

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
