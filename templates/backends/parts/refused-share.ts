import { code, literal } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** The share of a backend, which is refused if the backend does not exist. */
interface Share {
  readonly weight: number;
  readonly isRefused: boolean;
}

/** Writes the condition under which a request or connection falls into the share of missing backends; `undefined` if they have none. */
export function refusedShare(shares: readonly Share[]): Code | undefined {
  const sum = (some: readonly Share[]) => some.reduce((total, { weight }) => total + weight, 0);
  const part = sum(shares.filter(({ isRefused }) => isRefused));
  if (part === 0) return undefined;
  const isOfShare = imported("gwc/runtime/backends/weighted", "isOfShare");
  return code`${isOfShare}(${literal(part)}, ${literal(sum(shares))})`;
}
