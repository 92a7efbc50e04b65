import type { Server } from "node:https";
import { createSecureContext } from "node:tls";
import { errorText } from "../kubernetes/reflector.ts";
import {
  type AdmissionCertificateSettings,
  currentPair,
  keepCertificate,
} from "./admission-certificate.ts";
import { openAdmissionServer, type ServedReview } from "./admission-server.ts";
import { Judge } from "./judge.ts";
import { admissionRequest, admissionReview } from "./review.ts";
import type { CertificatePair } from "./self-signed.ts";

/** Dependencies of admission. */
export interface AdmissionSettings extends AdmissionCertificateSettings {
  readonly port: number;
  readonly warn: (message: string) => void;
}

/** Milliseconds for a response: the API server waits a second longer, and then does as its failure policy says. */
const TIME = 4_000;

/**
 * Says to the API server which objects have mistakes, before they are there (a validating webhook). Every replica answers;
 * the one that leads keeps the certificate.
 */
export class Admission {
  readonly #settings: AdmissionSettings;
  readonly #judge: Judge;
  #server: Promise<Server> | undefined;
  #pair: CertificatePair | undefined;
  #isKeeping = false;
  #isLeading = false;
  /** Objects that were asked about, and those of them that were refused. */
  reviews = 0;
  rejections = 0;

  constructor(settings: AdmissionSettings) {
    this.#settings = settings;
    this.#judge = new Judge(settings.objects);
    this.refresh();
  }

  set isLeading(isLeading: boolean) {
    this.#isLeading = isLeading;
    void this.compare();
  }

  /** Takes the certificate that there is now. */
  refresh(): void {
    const pair = currentPair(this.#settings);
    if (pair?.cert === this.#pair?.cert && pair?.key === this.#pair?.key) return;
    this.#pair = pair;
    void this.compare();
    if (pair !== undefined) void this.#serve(pair);
  }

  /** Mends what somebody else changed of the certificate. */
  async compare(): Promise<void> {
    if (!this.#isLeading || this.#isKeeping) return;
    this.#isKeeping = true;
    try {
      await keepCertificate(this.#settings);
    } catch (error) {
      const { configuration, warn } = this.#settings;
      warn(`the certificate of ${configuration}: ${errorText(error)}`);
    }
    this.#isKeeping = false;
  }

  stop(): void {
    this.#isLeading = false;
    this.#judge.stop();
    void this.#server?.then(
      (server) => server.close().closeAllConnections(),
      () => {},
    );
  }

  /** Serves with another certificate; with one that can't be used everything stays as it is. */
  async #serve(pair: CertificatePair): Promise<void> {
    const { port, warn, configuration } = this.#settings;
    const context = { ...pair, minVersion: "TLSv1.2" } as const;
    try {
      createSecureContext(context);
    } catch (error) {
      warn(`the certificate of ${configuration} can't be used: ${errorText(error)}`);
      return;
    }
    try {
      this.#server ??= openAdmissionServer(port, pair, (...asked) => this.#review(...asked));
      (await this.#server).setSecureContext(context);
    } catch (error) {
      // The next change tries again.
      this.#server = undefined;
      this.#pair = undefined;
      warn(`admission does not start: ${errorText(error)}`);
    }
  }

  async #review(body: unknown, caller: string): Promise<ServedReview> {
    const request = admissionRequest(body);
    if (request === undefined) return { status: 400, body: "the request is no AdmissionReview" };
    const { uid, judged } = request;
    try {
      const judgement = judged && (await this.#judge.judgement(judged, TIME, caller));
      this.reviews += 1;
      if (judgement !== undefined && judgement.mistakes.length > 0) this.rejections += 1;
      return { status: 200, body: admissionReview(uid, judgement) };
    } catch (error) {
      return { status: 503, body: errorText(error) };
    }
  }
}
