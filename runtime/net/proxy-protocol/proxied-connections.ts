import { BlockList, isIPv6, type Socket } from "node:net";
import { SECOND } from "../../process/units.ts";
import { FIRST_REQUEST_TIME } from "../listen-on.ts";
import { type ProxiedClient, type ProxyHeader, readProxyHeader } from "./proxy-header.ts";
import type { ProxiedClients, ProxyProtocol, ProxyProtocolSettings } from "./proxy-protocol.ts";

/** Makes proxies announce the clients of their connections. */
export function proxyProtocol(settings: ProxyProtocolSettings): ProxyProtocol {
  return { ...settings, open: () => new ProxiedConnections() };
}

/** Milliseconds within which a proxy must send its header. */
const PATIENCE = 10 * SECOND;

/** Connections of a port that proxies open for clients, with the client of each. */
class ProxiedConnections implements ProxiedClients {
  readonly #waiting = new Set<Socket>();
  /** Clients of connections whose TLS is terminated here, by the proxy's end of each. */
  readonly #clients = new Map<string, ProxiedClient>();
  #sources: { readonly of: readonly string[]; readonly list: BlockList } | undefined;

  receive(
    socket: Socket,
    settings: ProxyProtocolSettings,
    then: () => void,
    refused: (why: string) => void,
  ): void {
    const close = (why: string) => {
      refused(`${why} (PROXY protocol)`);
      socket.destroy();
    };
    if (!this.#isTrusted(socket, settings)) {
      if (settings.isOptional === true) then();
      else close("a header from an untrusted source");
      return;
    }
    this.#waiting.add(socket);
    socket.once("close", () => this.#waiting.delete(socket));
    receiveHeader(socket, (header) => {
      this.#waiting.delete(socket);
      if (header === undefined) return close("no header within the time limit");
      if (header.kind === "malformed") return close(header.why);
      if (header.kind === "none" && settings.isOptional !== true) return close("no header");
      if (header.kind === "header") {
        if (!settings.versions.includes(header.version)) return close("another version");
        if (header.client !== undefined) this.#keep(socket, header.client);
      }
      then();
    });
  }

  name(socket: Socket): void {
    const client = this.#clients.get(peerOf(socket));
    if (client === undefined) return;
    Object.defineProperties(socket, {
      peerAddress: { value: socket.remoteAddress },
      peerPort: { value: socket.remotePort },
      remoteAddress: { value: client.address },
      remotePort: { value: client.port },
      remoteFamily: { value: isIPv6(client.address) ? "IPv6" : "IPv4" },
    });
  }

  close(): void {
    setTimeout(() => {
      for (const socket of this.#waiting) socket.destroy();
    }, FIRST_REQUEST_TIME).unref();
  }

  #keep(socket: Socket, client: ProxiedClient): void {
    const peer = peerOf(socket);
    this.#clients.set(peer, client);
    socket.once("close", () => this.#clients.delete(peer));
  }

  #isTrusted({ remoteAddress }: Socket, { trustedSources }: ProxyProtocolSettings): boolean {
    if (trustedSources === undefined) return true;
    // The address of a closed connection is gone.
    if (remoteAddress === undefined) return false;
    if (this.#sources?.of !== trustedSources) {
      this.#sources = { of: trustedSources, list: listOf(trustedSources) };
    }
    return this.#sources.list.check(remoteAddress, isIPv6(remoteAddress) ? "ipv6" : "ipv4");
  }
}

/** Returns the proxy's end of a connection, which identifies it among open connections to the same port. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function listOf(sources: readonly string[]): BlockList {
  const list = new BlockList();
  for (const source of sources) {
    const [address = "", length] = source.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  }
  return list;
}

/**
 * Reads until the end of a header and leaves the bytes after it in the socket. Calls back with `undefined` if the header is
 * late.
 */
function receiveHeader(
  socket: Socket,
  done: (header: Exclude<ProxyHeader, { kind: "more" }> | undefined) => void,
): void {
  let first: Buffer = Buffer.alloc(0);
  const stop = () => {
    clearTimeout(timer);
    socket.off("readable", look);
    socket.off("end", leave);
    socket.off("close", stop);
    socket.off("error", leave);
  };
  const settle = (header: Exclude<ProxyHeader, { kind: "more" }> | undefined) => {
    stop();
    done(header);
  };
  const leave = () => settle(undefined);
  const look = () => {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) return;
    first = Buffer.concat([first, chunk]);
    const header = readProxyHeader(first);
    if (header.kind === "more") return;
    const rest = header.kind === "header" ? first.subarray(header.length) : first;
    stop();
    if (rest.length > 0) socket.unshift(rest);
    done(header);
  };
  const timer = setTimeout(leave, PATIENCE);
  socket.on("error", leave);
  socket.on("end", leave);
  socket.on("close", stop);
  socket.on("readable", look);
}
