import type { GatewayContext } from "../../../gateway/context.ts";
import type { PortServer, PreparedPort } from "../../../gateway/port-server.ts";
import { Certificates } from "../../../tls/certificates.ts";
import type { TlsSettings } from "../../../tls/tls-settings.ts";
import { HttpServer } from "./server.ts";
import type { ServerHandlers } from "./server-handlers.ts";

/** A port that speaks HTTP; with TLS its certificates are read. Throws an Error that says what can't be read. */
export function prepareHttp(handlers: ServerHandlers, tls: TlsSettings | undefined): PreparedPort {
  const certificates = tls && new Certificates(tls);
  return {
    takeOver(server: PortServer): (() => void) | undefined {
      if (!(server instanceof HttpServer && server.canUse(tls))) return undefined;
      return () => {
        server.setHandlers(handlers);
        if (certificates !== undefined) server.useCertificates(certificates);
      };
    },
    make: (gateway: GatewayContext) => new HttpServer(handlers, gateway, certificates),
  };
}
