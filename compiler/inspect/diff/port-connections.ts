import type { PortNode } from "../../ir/port.ts";
import type { Program } from "../../ir/program.ts";

/**
 * Returns two programs in which a port that has settings for connections in one of them also shows those in the other, where
 * they are the gateway's.
 */
export function withPortConnections(
  before: Program,
  after: Program,
): readonly [before: Program, after: Program] {
  const own = new Set([before, after].flatMap(portsOf).flatMap(portWithOwn));
  if (own.size === 0) return [before, after];
  const shown = (program: Program): Program => {
    const complete = <Port extends PortNode>(port: Port): Port =>
      own.has(port.port) ? { connections: program.connections, ...port } : port;
    return { ...program, binds: program.binds.map(complete), tcp: program.tcp.map(complete) };
  };
  return [shown(before), shown(after)];
}

function portsOf({ binds, tcp }: Program): readonly PortNode[] {
  return [...binds, ...tcp];
}

function portWithOwn({ port, connections }: PortNode): number | [] {
  return connections === undefined ? [] : port;
}
