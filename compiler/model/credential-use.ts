/** A credential that a policy verifies. */
export interface CredentialUse {
  /** Kind of the credential: one credential can satisfy policies of the same kind. */
  readonly kind: "token" | "password" | "key";
  /** Whether it is required. An optional one is refused if it is present and invalid. */
  readonly mode: "strict" | "optional" | "permissive";
  readonly location: CredentialPlace;
}

/** Place of a credential, in a form that allows comparison. */
export type CredentialPlace =
  | { readonly header: string; readonly prefix: string }
  | { readonly queryParameter: string }
  | { readonly cookie: string }
  | { readonly expression: unknown };
