import { readFileSync } from "node:fs";
import type { PreparedChange } from "../process/prepared-change.ts";
import { StartupError } from "../process/startup-error.ts";
import type { Store } from "../store/store.ts";
import { readCaCertificates } from "../tls/ca-certificates.ts";
import { certificatesChanged } from "./acme-certificate.ts";
import { AcmeRecords } from "./acme-records.ts";
import type { AcmeSettings } from "./acme-settings.ts";
import { ManagedCertificates } from "./managed-certificates.ts";
import type { AcmeEnrollment, AcmeGateway, AcmeOrders } from "./open-acme.ts";

/** The certificates of a process, which a reload of the configuration keeps if their settings are the same. */
class AcmeProcess implements AcmeEnrollment {
  readonly #gateway: AcmeGateway;
  #managed: ManagedCertificates | undefined;
  /** Settings and store of `#managed`. */
  #key = "";
  #store: Store | undefined;

  constructor(gateway: AcmeGateway) {
    this.#gateway = gateway;
  }

  async prepare(orders: AcmeOrders | undefined, store: Store | undefined): Promise<PreparedChange> {
    const before = this.#managed;
    const key = orders === undefined ? "" : JSON.stringify(orders.settings);
    if (key === this.#key && store === this.#store) return UNCHANGED;
    orders?.check();
    const { threads } = this.#gateway;
    const hasRandomKey = threads?.hasRandomKey ?? !process.env.SESSION_KEY;
    if (orders !== undefined && store?.isLocal === false && hasRandomKey)
      throw new StartupError(
        "keys of ordered certificates are encrypted in a store that replicas share: set SESSION_KEY to the same 64 hexadecimal digits on each of them",
      );
    const next =
      orders &&
      store &&
      new ManagedCertificates(
        orders.settings,
        new AcmeRecords(store, this.#gateway.sessionKeys),
        this.#gateway,
        before?.pairs,
      );
    await next?.load();
    return {
      commit: () => {
        this.#managed = next;
        this.#key = key;
        this.#store = store;
        before?.close();
        next?.start();
        certificatesChanged();
      },
      abort: () => next?.close(),
    };
  }

  close(): void {
    this.#managed?.close();
  }
}

const UNCHANGED: PreparedChange = { commit: () => {}, abort: () => {} };

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
