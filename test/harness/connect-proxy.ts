import { createServer } from "node:http";
import { connect } from "node:net";
import { listen } from "./listen.ts";

/** A tunnel that a proxy was asked for: `HOST:PORT`, and the credential that was shown. */
export type AskedTunnel = readonly [target: string, authorization: string | undefined];

/** Destination of a tunnel. */
export interface TunnelEnd {
  readonly host: string;
  readonly port: number;
}

/** Starts a proxy whose tunnels lead to this machine, wherever they are asked to; its port. It tells who asked for what. */
export function startConnectProxy(
  asked: AskedTunnel[],
  endOf: (target: string) => TunnelEnd,
): Promise<number> {
  const proxy = createServer().on("connect", ({ url = "", headers }, client) => {
    asked.push([url, headers["proxy-authorization"]]);
    const server = connect(endOf(url), () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(server).pipe(client);
    });
    for (const each of [client, server]) each.on("error", () => {});
  });
  return listen(proxy);
}
