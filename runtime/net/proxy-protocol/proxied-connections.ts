import { BlockList, isIPv6, type Socket } from "node:net";
import { SECOND } from "../../process/units.ts";
import { FIRST_REQUEST_TIME } from "../listen-on.ts";
import { type ProxiedClient, type ProxyHeader, readProxyHeader } from "./proxy-header.ts";
import type { ProxiedClients, ProxyProtocol, ProxyProtocolSettings } from "./proxy-protocol.ts";

/** Lets proxies say for whom they make connections. */
export function proxyProtocol(settings: ProxyProtocolSettings): ProxyProtocol {
  return { ...settings, open: () => new ProxiedConnections() };
}

/** How long a proxy may take to send its header, in milliseconds. */
const PATIENCE = 10 * SECOND;

/** The connections of a port that proxies make for clients: what each is said to be. */
class ProxiedConnections implements ProxiedClients {
  readonly #waiting = new Set<Socket>();
  /** The clients behind connections whose TLS ends here, by the proxy's end of each. */
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
      else close("a connection of nobody who may send a header");
      return;
    }
    this.#waiting.add(socket);
    socket.once("close", () => this.#waiting.delete(socket));
    receiveHeader(socket, (header) => {
      this.#waiting.delete(socket);
      if (header === undefined) return close("no header in time");
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
    // Who has left already has no address.
    if (remoteAddress === undefined) return false;
    if (this.#sources?.of !== trustedSources) {
      this.#sources = { of: trustedSources, list: listOf(trustedSources) };
    }
    return this.#sources.list.check(remoteAddress, isIPv6(remoteAddress) ? "ipv6" : "ipv4");
  }
}

/** The proxy's end of a connection, which no other one to the same port has at the same time. */
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

/** Reads up to the end of a header; the bytes behind it stay in the socket. Undefined: nothing came in time. */
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
