import type { Program } from "../../compiler/ir/program.ts";

/** The ports that a program opens for clients, each once: HTTPS and TLS that is passed on may share one. */
export function clientPorts({ binds, tcp }: Program): readonly number[] {
  return [...new Set([...binds, ...tcp].map(({ port }) => port))];
}
