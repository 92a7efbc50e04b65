/** A credential that a policy checks in requests. */
export interface CredentialUse {
  /** Policies of one kind may be satisfied by one credential. */
  readonly kind: "token" | "password" | "key";
  /** An optional one is refused when it is there and not valid. */
  readonly mode: "strict" | "optional" | "permissive";
  readonly location: CredentialPlace;
}

/** Where a credential stands, as far as two can be compared. */
export type CredentialPlace =
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  | { readonly expression: unknown };
