import type { ChallengeKind } from "../../runtime/acme/acme-settings.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { MountedFile } from "../model/texts.ts";

/** Account at an ACME server, as configured. */
export interface AcmeAccount {
  /** URL of the directory. */
  readonly directory: string;
  readonly email?: string;
  /** Authorities of the directory's own certificate; absent for those of the system. */
  readonly root?: MountedFile;
  readonly externalAccount?: { readonly keyId: string; readonly key: MountedFile };
  readonly origin: Origin;
}

/** The account, and the certificates that are ordered with it. */
export interface AcmeNode extends AcmeAccount {
  readonly certificates: readonly AcmeCertificateNode[];
}

/** A certificate that is ordered. */
export interface AcmeCertificateNode {
  readonly names: readonly string[];
  readonly challenge: ChallengeKind;
}

/** Use of an ordered certificate by a listener. */
export interface AcmeUse {
  readonly kind: "acme";
  /** Its names; those of the listener if there are none. */
  readonly names: readonly string[];
  /** `undefined` if the ports of the gateway decide. */
  readonly challenge: ChallengeKind | undefined;
  readonly origin: Origin;
}
