import type { UserConnectionUse } from "../../runtime/auth/connections/connected-upstream.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";

/** `oauth` of `backendAuth`: a connection of users whose tokens a server gets. */
export interface ConnectionUseConfig extends UserConnectionUse {
  readonly kind: "userConnection";
  readonly connectionOrigin: Origin;
}

/** The same, resolved. */
export interface ConnectionUseNode extends UserConnectionUse {
  readonly origin: Origin;
}

/** Claim that names users by default. */
export const DEFAULT_USER_CLAIM = "sub";
