import type { Text } from "./texts.ts";

/** Name of one of the file's backends, which describes a server. */
export interface ServerName {
  readonly kind: "named";
  readonly name: string;
}

/** A port of one of the file's services. */
export interface ServiceReference {
  /** `NAMESPACE/NAME`. */
  readonly name: string;
  readonly port: number;
}

/** Address of a server, or the name of a backend that describes it. */
export type AddressOrName = Text | ServerName;

/** Whether an address is the name of a backend. */
export function isServerName(address: AddressOrName): address is ServerName {
  return typeof address !== "string" && address.kind === "named";
}

/** A server as a file names it; one member is set. */
export interface NamedAddress {
  readonly host?: Text;
  readonly backend?: string;
  readonly service?: ServiceReference;
}

/** Returns the address that a file configures: a host, or the name of a backend. */
export function serverAddressOf({ host, backend, service }: NamedAddress): AddressOrName {
  const name = service === undefined ? backend : backendOfService(service);
  return name === undefined ? (host ?? "") : { kind: "named", name };
}

const SERVICE = "service ";

/** Returns the name of the backend that a port of a service is; no other backend can have it. */
export function backendOfService({ name, port }: ServiceReference): string {
  return `${SERVICE}${name}:${port}`;
}

/** Returns the port of a service that a backend is; `undefined` if it is not a service. */
export function serviceOfBackend(backend: string): ServiceReference | undefined {
  if (!backend.startsWith(SERVICE)) return undefined;
  const colon = backend.lastIndexOf(":");
  return {
    name: backend.slice(SERVICE.length, colon),
    port: Number(backend.slice(colon + 1)),
  };
}
