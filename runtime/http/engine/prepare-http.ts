import type { PortServer, PreparedPort } from "../../net/port-server.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import type { PortTls } from "../../tls/certificates.ts";
import { HttpServer } from "./node/http-server.ts";
import type { ServerHandlers } from "./server-handlers.ts";

/** Prepares a port that speaks HTTP; its certificates are read. Throws an Error that says which file is unusable. */
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
