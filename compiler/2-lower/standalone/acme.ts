import { type AcmeValue, LETS_ENCRYPT } from "../../1-parse/standalone/acme.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { AcmeAccount } from "../../ir/acme.ts";

/** Reads `acme`; `origin` is its place. Returns `undefined` if there is none. */
export function readAcme(value: AcmeValue | undefined, origin: Origin): AcmeAccount | undefined {
  if (value === undefined) return undefined;
  const { directory = LETS_ENCRYPT, email, root, externalAccount } = value;
  return {
    directory,
    ...(email !== undefined && { email }),
    ...(root !== undefined && { root: { kind: "path", file: root } }),
    ...(externalAccount && {
      externalAccount: {
        keyId: externalAccount.keyId,
        key: { kind: "path", file: externalAccount.keyFile },
      },
    }),
    origin,
  };
}
