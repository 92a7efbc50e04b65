import { code } from "../../code/code.ts";
import type { Code } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

/** Forwards the request once; `chosen`: to one of several upstreams, which `upstream` gives as a choice. */
export function plainForward(upstream: Code, chosen?: "chosen"): Code {
  const pass = chosen === undefined ? "forward" : "forwardChosen";
  return code`${imported("gwc/runtime/backends/host", pass)}(exchange, ${upstream})`;
}
