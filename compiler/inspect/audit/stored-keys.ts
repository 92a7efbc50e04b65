import type { ListedKey } from "../../../runtime/store/key-registry.ts";
import { storeUser } from "../../3-resolve/store.ts";
import { type Diagnostic, Diagnostics, keyPlace } from "../../diagnostics/diagnostic.ts";
import type { Host } from "../../host.ts";
import type { Program } from "../../ir/program.ts";
import type { LiteralSecret } from "../../model/literal-secrets.ts";
import { openKeys } from "../keys/open-keys.ts";

/**
 * Reports keys of a gateway's store that never expire, and those without a limit. Returns nothing for a gateway without such
 * keys. Throws a NoStoreError or a StoreError if the store cannot be read.
 */
export async function auditStoredKeys(
  program: Program,
  literals: readonly LiteralSecret[],
  host: Host,
): Promise<readonly Diagnostic[]> {
  const user = storeUser(program.binds);
  if (user === undefined) return [];
  const { keys, close } = await openKeys(program, literals, host);
  try {
    const { keys: all } = await keys.list();
    const diagnostics = new Diagnostics();
    const report = (
      code: "key-without-expiry" | "key-without-limit",
      found: readonly ListedKey[],
    ) => {
      const names = [...new Set(found.map(({ name }) => name))];
      if (names.length > 0) diagnostics.report(code, keyPlace(user.origin), { names });
    };
    report(
      "key-without-expiry",
      all.filter(({ expires }) => expires === undefined),
    );
    report(
      "key-without-limit",
      all.filter(({ limits }) => limits.length === 0),
    );
    return diagnostics.list;
  } finally {
    await close();
  }
}
