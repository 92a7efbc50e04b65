import type { EnrollmentLog } from "../process/enrollment.ts";
import type { CertificateChange, GatewayContext } from "../process/gateway-context.ts";
import type { PreparedChange } from "../process/prepared-change.ts";
import type { Store } from "../store/store.ts";
import type { AcmeSettings } from "./acme-settings.ts";

/** The certificates that a gateway orders, as configured. */
export interface AcmeOrders {
  readonly settings: AcmeSettings;
  /** Throws a StartupError if certificates can never be obtained. */
  check(): void;
  /** Creates the state of a running gateway, at first without certificates. */
  enrollment(gateway: AcmeGateway): AcmeEnrollment;
}

/** The part of a gateway that orders need. */
export interface AcmeGateway extends Pick<GatewayContext, "sessionKeys" | "metrics" | "threads"> {
  readonly log: EnrollmentLog;
  /** Writes a line of the audit log; does nothing without an audit log. */
  readonly audit: (change: CertificateChange) => void;
}

/** The certificates of a running gateway, across reloads. */
export interface AcmeEnrollment {
  /**
   * Reads the certificates in the store. They are used, and orders begin, on commit. Throws a StartupError if that can never
   * succeed.
   */
  prepare(orders: AcmeOrders | undefined, store: Store | undefined): Promise<PreparedChange>;
  close(): void;
}
