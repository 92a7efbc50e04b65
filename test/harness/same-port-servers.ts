import { createServer, type RequestListener, type Server } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { atEnd } from "./at-end.ts";
import { freePort } from "./free-port.ts";
import { keepIdleConnections } from "./listen.ts";

/** The variables of a gateway for which names under `.test`, or these, are what is said here: each name with its addresses. */
export function namedAddresses(
  names: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> {
  const script = pathToFileURL(join(import.meta.dirname, "fake-names.mjs"));
  const turns = Object.entries(names).map(([name, addresses]) => [name, [addresses]]);
  return {
    NODE_OPTIONS: `--inspect-port=127.0.0.1:0 --import=${script}`,
    GWC_TEST_NAMES: JSON.stringify(Object.fromEntries(turns)),
  };
}

/** Servers on one port of several loopback addresses, as the pods behind a name are; they are gone at the end of the test. */
export async function startOnOnePort(
  addresses: readonly string[],
  listener: (address: string) => RequestListener,
): Promise<{ readonly port: number; readonly servers: ReadonlyMap<string, Server> }> {
  const port = await freePort();
  const started = addresses.map(async (address): Promise<readonly [string, Server]> => {
    const server = createServer(listener(address)).listen(port, address);
    keepIdleConnections(server);
    atEnd(() => server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    return [address, server];
  });
  return { port, servers: new Map(await Promise.all(started)) };
}
