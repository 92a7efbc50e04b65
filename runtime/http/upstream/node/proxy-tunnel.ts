import type { OpenTunnel } from "../../../net/connector.ts";
import { tunnelsThrough } from "../../../net/tunnel.ts";
import { startupError } from "../../../process/startup-error.ts";
import { credentialFile } from "../credential-file.ts";
import type { ProxySettings, ProxyTunnel } from "../upstream.ts";
import { connectorsTo } from "./connectors.ts";
import { readServerUrl } from "./server-url.ts";

/** Reaches an upstream through a proxy. Only gateways that configure a proxy import this module. */
export function throughProxy(settings: ProxySettings): ProxyTunnel {
  return { ...settings, open: () => openProxy(settings) };
}

/** Opens tunnels through a proxy, over connections of HTTP/1.1. Throws StartupError if the settings cannot be used. */
function openProxy(settings: ProxySettings): OpenTunnel {
  const proxy = readServerUrl(settings.url);
  if (proxy === undefined || proxy.socketPath !== undefined) {
    throw startupError(`"${settings.url.replace(/\/\/[^/]*@/, "//")}" is not the URL of a proxy`);
  }
  const connect = connectorsTo(proxy, settings).http1();
  const { authorization, authorizationFile } = settings;
  const shown =
    authorizationFile === undefined ? () => authorization : credentialFile(authorizationFile);
  return tunnelsThrough(proxy.name, connect, settings.connectTimeout, shown);
}
