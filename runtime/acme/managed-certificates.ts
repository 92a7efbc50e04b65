import { randomUUID, X509Certificate } from "node:crypto";
import { acmeOrders } from "../metrics/table/acme.ts";
import type { CertificateChange } from "../process/gateway-context.ts";
import { MINUTE, SECOND } from "../process/units.ts";
import type { IssuedPair } from "../tls/issued-certificate.ts";
import {
  certificateKey,
  certificatesChanged,
  type IssuedCertificates,
  offerCertificates,
} from "./acme-certificate.ts";
import { AcmeConnection } from "./acme-connection.ts";
import { AcmeProblem, pauseAfter } from "./acme-problem.ts";
import { type AcmeRecords, digest, type StoredCertificate } from "./acme-records.ts";
import type { AcmeSettings, OrderedCertificate } from "./acme-settings.ts";
import { obtainCertificate } from "./obtain-certificate.ts";
import type { AcmeGateway } from "./open-acme.ts";
import { defaultRenewal, type RenewalTime, renewalId, suggestedRenewal } from "./renewal-time.ts";

/** Milliseconds for which a replica may order before another one may: more than an order can take. */
const ORDER_TIME = 10 * MINUTE;
/** Milliseconds between two looks at the store: for a certificate that another replica orders, and otherwise. */
const SHORT_WAIT = 2 * SECOND;
const LONG_WAIT = MINUTE;
/** Milliseconds that the start waits for certificates in the store. */
const LOAD_TIME = 5 * SECOND;

/**
 * Certificates that an ACME server issues. All threads and replicas read them from the store; the one that takes the lease of a
 * certificate orders it. A failure pauses its orders everywhere. The old certificate stays in use until there is a new one.
 */
export class ManagedCertificates {
  readonly #settings: AcmeSettings;
  readonly #records: AcmeRecords;
  readonly #gateway: AcmeGateway;
  readonly #pairs: Map<string, IssuedPair>;
  readonly #stored: Map<string, StoredCertificate> = new Map();
  /**
   * Leases whose requests got no response, by the certificate: the store may have granted them, and then nobody else can order
   * for as long.
   */
  readonly #unconfirmed = new Map<string, string>();
  readonly #withdraw: () => void;
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isAttending = false;
  #isClosed = false;
  /** Last logged problem of the store. */
  #logged = "";

  /** `before`: certificates of the previous configuration, which stay in use meanwhile. */
  constructor(
    settings: AcmeSettings,
    records: AcmeRecords,
    gateway: AcmeGateway,
    before: IssuedCertificates | undefined,
  ) {
    this.#settings = settings;
    this.#records = records;
    this.#gateway = gateway;
    this.#pairs = new Map(before);
    this.#withdraw = offerCertificates(this.#pairs);
  }

  get pairs(): IssuedCertificates {
    return this.#pairs;
  }

  /** Reads the certificates that the store has. Never rejects: without the store, the gateway starts without them. */
  async load(): Promise<void> {
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, LOAD_TIME).unref());
    await Promise.race([this.#readAll().catch((error) => this.#warn(error)), timeout]);
  }

  /** Reads all certificates. If names have changed, an old certificate for some of them is used until the order is complete. */
  async #readAll(): Promise<void> {
    const { certificates } = this.#settings;
    await Promise.all(certificates.map((each) => this.#read(each)));
    const missing = certificates.filter(({ names }) => !this.#pairs.has(certificateKey(names)));
    if (missing.length === 0) return;
    const candidates = [...this.#pairs.values(), ...(await this.#records.certificates())];
    for (const { names } of missing) {
      const old = substituteFor(names, candidates);
      if (old !== undefined) this.#pairs.set(certificateKey(names), old);
    }
  }

  /** Orders what is missing or due, until `close`. */
  start(): void {
    this.#unsubscribe = this.#records.onCertificate(() => this.#soon(0));
    const shown = this.#isAlone ? this.#settings.certificates : [];
    for (const one of shown) {
      const stored = this.#stored.get(this.#idOf(one));
      if (stored !== undefined) this.#gateway.log.info(inUse(one, stored));
      else if (this.#pairs.has(certificateKey(one.names)))
        this.#gateway.log.info(
          `a certificate for ${one.names.join(", ")} is ordered; an old one stays in use until then`,
        );
    }
    this.#soon(0);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#unsubscribe?.();
    this.#withdraw();
  }

  /** Whether this is the only thread, or the first of several, so that it logs what all of them see. */
  get #isAlone(): boolean {
    return (this.#gateway.threads?.index ?? 0) === 0;
  }

  #soon(wait: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#attend(), wait);
    this.#timer.unref();
  }

  async #attend(): Promise<void> {
    if (this.#isAttending) return;
    this.#isAttending = true;
    try {
      for (const one of this.#settings.certificates) await this.#attendTo(one);
      this.#logged = "";
    } catch (error) {
      this.#warn(error);
    }
    this.#isAttending = false;
    this.#soon(this.#nextWait);
  }

  /** Milliseconds until the store is read again. */
  get #nextWait(): number {
    const waits = this.#settings.certificates.map((one) => {
      const stored = this.#stored.get(this.#idOf(one));
      if (stored === undefined || isDue(stored)) return SHORT_WAIT;
      return Math.min(stored.renewal, stored.inquiry) - Date.now();
    });
    return Math.min(LONG_WAIT, ...waits);
  }

  /** Takes over what another replica has ordered, and orders a certificate if that is due. Rejects if the store fails. */
  async #attendTo(one: OrderedCertificate): Promise<void> {
    const id = this.#idOf(one);
    const stored = await this.#read(one);
    if (this.#isClosed || !isDue(stored)) return;
    const lease = this.#unconfirmed.get(id) ?? randomUUID();
    this.#unconfirmed.set(id, lease);
    const isBegun = await this.#records.begin(id, lease, ORDER_TIME);
    this.#unconfirmed.delete(id);
    if (!isBegun) return;
    let pause: number | undefined;
    try {
      // Another replica may have finished since.
      const current = await this.#read(one);
      if (isDue(current)) await this.#renew(one, current);
      await this.#records.forgetFailures(id);
    } catch (error) {
      pause = Date.now() + (await this.#failed(one, error));
    } finally {
      await this.#records.finish(id, lease, pause);
    }
  }

  async #read(one: OrderedCertificate): Promise<StoredCertificate | undefined> {
    const id = this.#idOf(one);
    const stored = await this.#records.certificate(id);
    const before = this.#stored.get(id);
    if (stored === undefined || this.#isClosed) return stored;
    this.#stored.set(id, stored);
    if (stored.cert === before?.cert) return stored;
    const { cert, key } = stored;
    this.#pairs.set(certificateKey(one.names), { cert, key });
    certificatesChanged();
    return stored;
  }

  async #renew(one: OrderedCertificate, old: StoredCertificate | undefined): Promise<void> {
    const id = this.#idOf(one);
    const connection = await AcmeConnection.open(this.#settings, this.#records);
    if (old !== undefined && Date.now() < old.renewal) {
      const asked = await askedRenewal(old.cert, connection);
      const next = asked ?? { ...defaultRenewal(old.cert, Date.now()), renewal: old.renewal };
      const stored = { ...old, ...next };
      await this.#records.writeCertificate(id, stored);
      if (!isDue(stored)) return;
    }
    const replaced = old && (await replacedBy(old, connection));
    let pair: IssuedPair;
    try {
      pair = await obtainCertificate(one, replaced, connection, this.#records);
    } finally {
      this.#checkClock(connection);
    }
    const asked = await askedRenewal(pair.cert, connection);
    const stored = { ...pair, ...(asked ?? defaultRenewal(pair.cert, Date.now())) };
    await this.#records.writeCertificate(id, stored);
    this.#gateway.metrics.counter(acmeOrders, "issued").value += 1;
    await this.#read(one);
    this.#gateway.log.info(inUse(one, stored));
    this.#audit(one, old === undefined ? "issued" : "renewed");
    // Otherwise a clock that is ahead by months would order a certificate each time.
    if (isDue(stored))
      throw new AcmeProblem(
        "a new certificate is due for renewal at once: the clock may be wrong",
        {
          hasResponse: true,
        },
      );
  }

  #checkClock({ skewMinutes }: AcmeConnection): void {
    if (skewMinutes === undefined) return;
    const direction = skewMinutes > 0 ? "ahead of" : "behind";
    this.#gateway.log.warn(
      `the clock of this machine is ${Math.abs(skewMinutes)} minutes ${direction} the ACME server's: set it, because it decides when certificates are renewed`,
    );
  }

  /** Reports a failed order. Returns the milliseconds before the next one. */
  async #failed(one: OrderedCertificate, error: unknown): Promise<number> {
    const message = error instanceof Error ? error.message : String(error);
    const problem = error instanceof AcmeProblem ? error : new AcmeProblem(message);
    const pause = pauseAfter(problem, await this.#records.countFailure(this.#idOf(one)));
    this.#gateway.metrics.counter(acmeOrders, "failed").value += 1;
    const names = one.names.join(", ");
    const used = this.#pairs.get(certificateKey(one.names));
    const effect =
      used === undefined
        ? "handshakes that need it are refused"
        : `the old one stays in use, valid until ${expiryOf(used)}`;
    const next = new Date(Date.now() + pause).toISOString();
    this.#gateway.log.warn(
      `no ${used === undefined ? "" : "new "}certificate for ${names}: ${message}; ${effect}; next attempt at ${next}`,
    );
    this.#audit(one, "failed", message);
    return pause;
  }

  #audit({ names }: OrderedCertificate, event: CertificateChange["event"], error?: string): void {
    const used = this.#pairs.get(certificateKey(names));
    this.#gateway.audit({ event, names, expiry: used && expiryOf(used), error });
  }

  #warn(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message === this.#logged) return;
    this.#logged = message;
    this.#gateway.log.warn(`ACME certificates can't be read from the store: ${message}`);
  }

  #idOf({ names }: OrderedCertificate): string {
    return digest(this.#settings.directory, certificateKey(names));
  }
}

function isDue(stored: StoredCertificate | undefined): boolean {
  const now = Date.now();
  return stored === undefined || now >= stored.renewal || now >= stored.inquiry;
}

/** Returns when the server wants a certificate to be renewed; `undefined` if it does not say, or does not respond. */
async function askedRenewal(
  cert: string,
  connection: AcmeConnection,
): Promise<RenewalTime | undefined> {
  try {
    return await suggestedRenewal(cert, connection, Date.now());
  } catch {
    return undefined;
  }
}

/** Returns the identifier of the old certificate if the server wants to know it, so that limits exempt the renewal. */
async function replacedBy(
  { cert }: StoredCertificate,
  connection: AcmeConnection,
): Promise<string | undefined> {
  const info = await connection.directoryUrl("renewalInfo").catch(() => undefined);
  return info && renewalId(cert);
}

function inUse({ names }: OrderedCertificate, stored: StoredCertificate): string {
  const renewal = new Date(stored.renewal).toISOString();
  return `the certificate of ${names.join(", ")} is valid until ${expiryOf(stored)}, and is renewed at ${renewal}`;
}

function expiryOf({ cert }: IssuedPair): string {
  return new X509Certificate(cert).validToDate.toISOString();
}

/**
 * Returns the certificate that serves most of the names until there is one for all of them; `undefined` if none serves any. Of
 * equal ones, the one that is valid longest. Expired ones are the last resort.
 */
function substituteFor(
  names: readonly string[],
  candidates: readonly IssuedPair[],
): IssuedPair | undefined {
  const now = Date.now();
  const ranked = candidates.flatMap((pair) => {
    const certificate = parsed(pair);
    if (certificate === undefined) return [];
    const served = names.filter((name) => certificate.checkHost(name) !== undefined).length;
    const expiry = certificate.validToDate.getTime();
    return served === 0 ? [] : [{ pair, isValid: Number(expiry > now), served, expiry }];
  });
  const [best] = ranked.sort(
    (a, b) => b.isValid - a.isValid || b.served - a.served || b.expiry - a.expiry,
  );
  return best?.pair;
}

function parsed({ cert }: IssuedPair): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    // A damaged record of the store must not prevent the start.
    return undefined;
  }
}
