import { readFileSync } from "node:fs";
import { StartupError } from "../process/startup-error.ts";
import { readCaCertificates } from "../tls/ca-certificates.ts";
import { AcmeProcess } from "./acme-process.ts";
import type { AcmeSettings } from "./acme-settings.ts";
import type { AcmeOrders } from "./open-acme.ts";

/**
 * Obtains the certificates of a gateway from an ACME server, and renews them.
 *
 * @example
 * const gateway: Gateway = {
 *   ...rest,
 *   acme: processAcme({
 *     directory: "https://acme-v02.api.letsencrypt.org/directory",
 *     certificates: [{ names: ["shop.example.com"], challenge: "http-01" }],
 *   }),
 * };
 */
export function processAcme(settings: AcmeSettings): AcmeOrders {
  return {
    settings,
    check: () => checkFiles(settings),
    enrollment: (gateway) => new AcmeProcess(gateway),
  };
}

function checkFiles({ rootFile, externalAccount }: AcmeSettings): void {
  try {
    if (rootFile !== undefined) readCaCertificates(rootFile);
    if (externalAccount !== undefined) readFileSync(externalAccount.keyFile);
  } catch (error) {
    throw new StartupError(`config.acme: ${error instanceof Error ? error.message : error}`);
  }
}
