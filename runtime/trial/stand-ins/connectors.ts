import type { Connectors } from "../../http/upstream/node/connectors.ts";
import type { Connect } from "../../net/connector.ts";

/** In the place of http/upstream/node/connectors.ts: nothing is connected, and no file of TLS is read. */
export function connectorsTo(): Connectors {
  return { negotiated: () => refused, http1: () => refused, http2: () => refused };
}

const refused: Connect = (done) => done(new Error("no server is asked in a trial"), null);
