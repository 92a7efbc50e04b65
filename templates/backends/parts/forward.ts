import { code } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** Passes the request on, once. */
export function plainForward(upstream: Code): Code {
  return code`${imported("gwc/runtime/backends/host", "forward")}(exchange, ${upstream})`;
}
