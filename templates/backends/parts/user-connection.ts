import type { BackendConnection } from "../../../compiler/model/connections.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, ImportSymbol, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

const MODULE = "gwc/runtime/auth/connections/connected-upstream";

type Connection = Pick<BackendConnection, "userConnection">;

/** Returns the variables of the exchange that connections of users read. */
export function readsUser(connections: readonly Connection[]): readonly string[] {
  return connections.some(({ userConnection: use }) => use !== undefined) ? ["jwt"] : [];
}

/** Writes the connection of users whose tokens an MCP target gets; `undefined` if it gets none. */
export function targetUsers(connection: Connection, unconnected: ImportSymbol): Code | undefined {
  return opened("userConnection", connection, unconnected);
}

/** Returns the settings of a server of forwarded requests that gets tokens of users; empty if it gets none. */
export function forwardedUsers(connection: Connection): Readonly<Record<string, Printable>> {
  const unconnected = imported("gwc/runtime/auth/connections/unconnected-host", "unconnectedHost");
  const users = opened("forwardedConnection", connection, unconnected);
  return users === undefined ? {} : { users };
}

function opened(
  open: "userConnection" | "forwardedConnection",
  { userConnection: use }: Connection,
  unconnected: ImportSymbol,
): Code | undefined {
  if (use === undefined) return undefined;
  const { name, page, claim, owner } = use;
  const settings = { name, page, claim, owner, unconnected: code`${unconnected}` };
  return code`${imported(MODULE, open)}(${literal(settings)})`;
}
