import { childOf, type Diagnostics, keyPlace, type Origin } from "../../diagnostics/diagnostic.ts";
import type { BackendPolicies } from "../../model/backend-policies.ts";
import { type AddressOrName, isServerName } from "../../model/server-address.ts";
import type { BackendAuthConfig } from "../../model/server-policies.ts";
import type { Text } from "../../model/texts.ts";

/** A server that a named backend of the file describes. */
export interface NamedServer {
  readonly address: Text;
  readonly policies: BackendPolicies | undefined;
  readonly origin: Origin;
}

/** A reference to a backend of the file by its name; `user` names its field in messages. */
export interface ServerReference {
  readonly name: string;
  readonly origin: Origin;
  readonly user: string;
}

/** Services needed to find servers by the names of backends. */
export interface NamedServers {
  /** Returns the server that a named backend describes; `undefined` if it describes none (reported). */
  readonly namedServer: (
    reference: ServerReference,
    diagnostics: Diagnostics,
  ) => NamedServer | undefined;
}

/** A server by its address, with the policies and the place that describe it. */
interface AddressedServer<Policies> {
  readonly host: Text;
  readonly hostOrigin: Origin;
  readonly policies: Policies | undefined;
}

/**
 * Returns a server by its address, with the policies of the backend that its name refers to under its own ones;
 * `undefined` if there is no such server (reported).
 */
export function addressedServer<Policies extends BackendPolicies>(
  address: AddressOrName,
  { origin, user, policies }: { origin: Origin; user: string; policies: Policies | undefined },
  { namedServer, diagnostics }: NamedServers & { readonly diagnostics: Diagnostics },
): AddressedServer<Policies | BackendPolicies> | undefined {
  if (!isServerName(address)) return { host: address, hostOrigin: origin, policies };
  const found = namedServer({ name: address.name, origin, user }, diagnostics);
  if (found === undefined) return undefined;
  const { address: host, origin: hostOrigin } = found;
  return { host, hostOrigin, policies: { ...found.policies, ...policies } };
}

/**
 * Reports a credential that requests of the gateway's own cannot carry: one that is derived from a client's token, or
 * from another authorization server. Returns whether there is none.
 */
export function isOwnCredential(
  auth: BackendAuthConfig | undefined,
  user: string,
  diagnostics: Diagnostics,
): boolean {
  const field = auth && OF_OTHERS[auth.kind];
  if (auth === undefined || field === undefined) return true;
  diagnostics.report("misplaced-field", keyPlace(childOf(auth.origin, field)), {
    field: `"${field}"`,
    actsOn: "the requests of clients",
    found: `those of "${user}"`,
  });
  return false;
}

const OF_OTHERS: Readonly<Record<string, string>> = {
  passthrough: "passthrough",
  tokenExchange: "oauthTokenExchange",
  clientCredentials: "clientCredentials",
  userConnection: "oauth",
};
