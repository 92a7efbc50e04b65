import type { Program } from "../../compiler/ir/program.ts";

/** The ports of a gateway's listeners, each once: HTTPS and TLS that is passed on may share one. */
export function listenerPorts({ binds, tcp }: Program): readonly number[] {
  return [...new Set([...binds, ...tcp].map(({ port }) => port))];
}
