import type { Connectors } from "../../http/upstream/node/connectors.ts";
import type { Connect } from "../../net/connector.ts";

/** Replaces http/upstream/node/connectors.ts: opens no connections, and reads no TLS files. */
export function connectorsTo(): Connectors {
  return { negotiated: () => refused, http1: () => refused, http2: () => refused };
}

const refused: Connect = (done) => done(new Error("a trial opens no connections"), null);
