import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import type { UpstreamTls } from "../../../runtime/tls/upstream-tls.ts";
import type { BackendTlsNode } from "../../model/connections.ts";
import { type MountedFile, shownText, type Text } from "../../model/texts.ts";
import type { CheckedItem } from "./checked-item.ts";
import { type DoctorContext, startupPath } from "./environment-checks.ts";
import type { UsedServer } from "./used-servers.ts";

/** Milliseconds for a connection, its handshake and one response. */
const PATIENCE = 3000;
/** Servers that are asked at the same time. */
const AT_ONCE = 16;

/** A checked server, and the time that it told; `undefined` if it told none. */
export interface AskedServer {
  readonly item: CheckedItem;
  /** Difference of its clock from that of this machine, in milliseconds. */
  readonly clock: number | undefined;
}

/** Connects to each server as the gateway does, with its TLS settings, and sends `HEAD /` without credentials. */
export async function checkServers(
  servers: readonly UsedServer[],
  context: DoctorContext,
): Promise<readonly AskedServer[]> {
  const left = [...servers.entries()];
  const asked: AskedServer[] = [];
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      asked[next[0]] = await ask(next[1], context);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return asked;
}

async function ask(server: UsedServer, context: DoctorContext): Promise<AskedServer> {
  const place = context.placeOf(server.origin);
  const item = { group: "servers", name: withoutUser(shownText(server.url)), place } as const;
  const address = addressFrom(server.url, context);
  const skipped = (detail: string): AskedServer => {
    return { item: { ...item, status: "skipped", detail }, clock: undefined };
  };
  if (address === undefined) return skipped("a variable of its address is not set");
  if (server.isTunneled) return skipped("reached through a proxy");
  if (server.tls?.identity !== undefined) return skipped("accepts the gateway's identity only");
  const url = URL.parse(address.includes("://") ? address : `tcp://${address}`);
  if (url === null) return skipped("its address is not a URL");
  const before = performance.now();
  try {
    const clock = await connectTo(url, server, context);
    const milliseconds = Math.round(performance.now() - before);
    const detail = url.protocol === "https:" ? "connected, certificate accepted" : "connected";
    return { item: { ...item, status: "ok", detail, milliseconds }, clock };
  } catch (error) {
    return { item: { ...item, status: "failed", ...problemOf(error, url) }, clock: undefined };
  }
}

/** Returns a URL without its user and password. */
function withoutUser(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/@]*@/, "$1");
}

/** Returns the value of an address; `undefined` if a variable without fallback is not set. */
function addressFrom(text: Text, { host }: DoctorContext): string | undefined {
  if (typeof text === "string") return text;
  const parts = text.parts.map((part) =>
    typeof part === "string" ? part : (host.variable(part.env) ?? part.fallback),
  );
  return parts.includes(undefined) ? undefined : parts.join("");
}

/** Resolves with the difference of the server's clock once it is connected; rejects if it cannot be used. */
async function connectTo(
  { protocol, hostname, port, host }: URL,
  { tls, origin }: UsedServer,
  context: DoctorContext,
): Promise<number | undefined> {
  const isTls = protocol === "https:" || protocol === "rediss:" || tls !== undefined;
  const isRedis = protocol.startsWith("redis");
  const place = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (isRedis ? 6379 : isTls ? 443 : 80),
  };
  const options = isTls ? (await tlsSettings(tls, origin, context)).optionsFor(place.host) : {};
  return new Promise((resolve, reject) => {
    const socket = isTls ? connectTls({ ...place, ...options }) : connect(place);
    let isConnected = false;
    const end = (clock: number | undefined) => {
      socket.destroy();
      resolve(clock);
    };
    socket.setTimeout(PATIENCE, () => {
      // It accepts connections, and speaks another protocol than HTTP/1.1.
      if (isConnected) end(undefined);
      else socket.destroy(new Error(`no answer within ${PATIENCE / 1000} s`));
    });
    socket.once("error", (error) => (isConnected ? end(undefined) : reject(error)));
    socket.once("close", () => end(undefined));
    socket.once(isTls ? "secureConnect" : "connect", () => {
      isConnected = true;
      if (protocol === "tcp:" || isRedis) return end(undefined);
      socket.write(`HEAD / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    });
    socket.once("data", (bytes) => end(clockIn(bytes.toString("latin1"))));
  });
}

async function tlsSettings(
  tls: BackendTlsNode | undefined,
  origin: UsedServer["origin"],
  context: DoctorContext,
): Promise<UpstreamTls> {
  const paths = tls?.authorities?.map((file: MountedFile) =>
    startupPath(file, origin, context.host),
  );
  const authorities = paths?.filter((file) => file !== undefined);
  const name = tls?.serverName === undefined ? undefined : addressFrom(tls.serverName, context);
  const names = tls?.subjectAltNames?.map((each) => addressFrom(each, context) ?? "");
  const { UpstreamTls } = await import("gwc/runtime/tls/upstream-tls");
  return new UpstreamTls({
    verification: tls?.verification ?? "full",
    ...(authorities !== undefined && { authorities }),
    ...(name !== undefined && { serverName: name }),
    ...(names !== undefined && { subjectAltNames: names }),
  });
}

/** Returns how far the Date of a response is from this machine's clock, to the second; `undefined` without one. */
function clockIn(head: string): number | undefined {
  const time = Date.parse(/^date: (.*)\r$/im.exec(head)?.[1] ?? "");
  return Number.isNaN(time) ? undefined : time - Date.now();
}

function problemOf(error: unknown, { hostname, host }: URL): Pick<CheckedItem, "detail" | "hint"> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const text = error instanceof Error ? error.message : String(error);
  switch (code) {
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return {
        detail: `the name ${hostname} does not resolve`,
        hint: "check the name and the DNS",
      };
    case "ECONNREFUSED":
      return { detail: `nothing listens on ${host}`, hint: "start the server, or fix its port" };
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return { detail: `there is no route to ${host}`, hint: "check the network and firewalls" };
    case "CERT_HAS_EXPIRED":
      return { detail: "its certificate has expired", hint: "renew it on the server" };
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return { detail: `its certificate does not name ${hostname}`, hint: "set serverName" };
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return {
        detail: "its certificate is signed by an authority that is not trusted",
        hint: "give the authority: policies.backendTLS.root",
      };
    case "EPROTO":
      return { detail: "it does not speak TLS on this port", hint: "use http://, or its TLS port" };
    default:
      return { detail: text, hint: "check the network and firewalls" };
  }
}
