import { type Code, code, imported } from "../../code/code.ts";

/** Passes the request on, once. */
export function plainForward(upstream: Code): Code {
  return code`${imported("gwc/runtime/backends/host", "forward")}(exchange, ${upstream})`;
}
