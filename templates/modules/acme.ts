import type { AcmeUse } from "../../compiler/ir/acme.ts";
import type { Program } from "../../compiler/ir/program.ts";
import { code, literal } from "../code/code.ts";
import { filePath } from "../code/file-path.ts";
import type { Code, ImportSymbol } from "../code/hole.ts";
import { imported } from "../code/names.ts";

/** Writes the certificates that a gateway orders; `undefined` if it orders none. */
export function acmeCode({ acme }: Program): Code | undefined {
  if (acme === undefined) return undefined;
  const { directory, email, root, externalAccount, certificates } = acme;
  const settings = {
    directory,
    email,
    rootFile: root && filePath(root),
    externalAccount: externalAccount && {
      keyId: externalAccount.keyId,
      keyFile: filePath(externalAccount.key),
    },
    certificates: certificates.map(({ names, challenge }) => ({ names, challenge })),
  };
  return code`${imported("gwc/runtime/acme/process-acme", "processAcme")}(${literal(settings)})`;
}

/** Writes the certificate of a listener that is ordered. */
export function orderedCertificate(hostname: string, { names }: AcmeUse): Code {
  const own = names.length > 0 ? names : [hostname];
  return code`${imported("gwc/runtime/acme/acme-certificate", "acmeCertificate")}(${literal(own)})`;
}

/** Writes what takes the server's handshakes, for ports with TLS; `undefined` if it asks for none. */
export function interceptedHandshakes({ acme }: Program): ImportSymbol | undefined {
  const isAsked = acme?.certificates.some(({ challenge }) => challenge === "tls-alpn-01") === true;
  return isAsked
    ? imported("gwc/runtime/acme/challenge-handshakes", "challengeHandshakes")
    : undefined;
}

/** Wraps the handler of a port without TLS in a step that responds to the server's requests for tokens. */
export function handlerWithChallenges(handler: Code, { acme }: Program): Code {
  const isAsked = acme?.certificates.some(({ challenge }) => challenge === "http-01") === true;
  if (!isAsked) return handler;
  return code`${imported("gwc/runtime/acme/serve-challenges", "serveChallenges")}(${handler})`;
}
