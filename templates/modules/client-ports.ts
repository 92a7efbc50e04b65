import type { Program } from "../../compiler/ir/program.ts";

/** Returns the ports that a program opens for clients, each once: HTTPS and TLS passthrough may share one. */
export function clientPorts({ binds, tcp }: Program): readonly number[] {
  return [...new Set([...binds, ...tcp].map(({ port }) => port))];
}
