import { readCertificatePair } from "../tls/certificate-pair.ts";
import type { IssuedPair } from "../tls/issued-certificate.ts";
import type { AcmeConnection } from "./acme-connection.ts";
import { AcmeProblem } from "./acme-problem.ts";
import type { AcmeRecords } from "./acme-records.ts";
import type { OrderedCertificate } from "./acme-settings.ts";
import { handshakeChallengeId } from "./challenge-handshakes.ts";
import { httpChallengeId } from "./serve-challenges.ts";

/** Types of problems that may be about the certificate that is renewed (RFC 9773 5). */
const REFUSES_OLD: ReadonlySet<string> = new Set([
  "malformed",
  "alreadyReplaced",
  "conflict",
  "unauthorized",
]);

/**
 * Orders a certificate and proves that its names are the gateway's (RFC 8555 7.4). `replaced`: identifier of the certificate
 * that it renews (RFC 9773 4.1). Throws an AcmeProblem.
 */
export async function obtainCertificate(
  { names, challenge: kind }: OrderedCertificate,
  replaced: string | undefined,
  connection: AcmeConnection,
  records: AcmeRecords,
): Promise<IssuedPair> {
  const { crypto } = connection.acme;
  return connection.withAccount(async (client) => {
    const identifiers = names.map((value) => ({ type: "dns", value }));
    const order = await client
      .createOrder({ identifiers, ...(replaced !== undefined && { replaces: replaced }) })
      .catch((error: unknown) => {
        // The server may know neither the old certificate nor its authority, or has seen it replaced.
        if (replaced === undefined || !REFUSES_OLD.has(connection.problemType ?? "")) throw error;
        return client.createOrder({ identifiers });
      });
    for (const authorization of await client.getAuthorizations(order)) {
      if (authorization.status === "valid") continue;
      const { identifier, challenges } = authorization;
      const challenge = challenges.find(({ type }) => type === kind);
      if (challenge === undefined)
        throw new AcmeProblem(`the ACME server offers no ${kind} for ${identifier.value}`, {
          hasResponse: true,
        });
      const response = await client.getChallengeKeyAuthorization(challenge);
      const isHttp = kind === "http-01";
      const id = isHttp ? httpChallengeId(challenge.token) : handshakeChallengeId(identifier.value);
      if (isHttp) await records.offerResponse(id, { response });
      else {
        const [key, cert] = await crypto.createAlpnCertificate(authorization, response);
        await records.offerResponse(id, { cert: cert.toString(), key: key.toString() });
      }
      try {
        await client.completeChallenge(challenge);
        await client.waitForValidStatus(challenge);
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`${kind} of ${identifier.value} failed: ${why}`);
      } finally {
        await records.withdrawResponse(id);
      }
    }
    const [key, request] = await crypto.createCsr(
      { altNames: [...names] },
      await crypto.createPrivateEcdsaKey(),
    );
    const cert = await client.getCertificate(await client.finalizeOrder(order, request));
    const { certificate } = readCertificatePair(Buffer.from(cert), key, undefined);
    const missing = names.find((name) => certificate.checkHost(name) === undefined);
    if (missing !== undefined)
      throw new AcmeProblem(`the ACME server sent a certificate without ${missing}`, {
        hasResponse: true,
      });
    return { cert, key: key.toString() };
  });
}
