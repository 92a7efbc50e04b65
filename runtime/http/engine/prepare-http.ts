import type { PortServer, PreparedPort } from "../../net/port-server.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { PortTls } from "../../tls/certificates.ts";
import { HttpServer } from "./node/http-server.ts";
import type { ServerHandlers } from "./server-handlers.ts";

/** A port that speaks HTTP; with TLS its certificates are read. Throws an Error that says what can't be read. */
export function prepareHttp(handlers: ServerHandlers, tls: PortTls | undefined): PreparedPort {
  const certificates = tls?.open();
  return {
    takeOver(server: PortServer): (() => void) | undefined {
      const { division } = handlers;
      if (!(server instanceof HttpServer && server.canUse(tls?.settings, division)))
        return undefined;
      return () => {
        server.setHandlers(handlers);
        if (certificates !== undefined) server.useCertificates(certificates);
      };
    },
    create: (gateway: GatewayContext) => new HttpServer(handlers, gateway, certificates),
  };
}
