import { createServer } from "node:net";
import type { Program } from "../../ir/program.ts";
import type { CheckedItem } from "./checked-item.ts";
import type { DoctorContext } from "./environment-checks.ts";

/** A port that a gateway opens. */
interface WantedPort {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly place?: string;
}

/** Address of ports in a bundle, unless the configuration has one. */
const EVERY_ADDRESS = "0.0.0.0";

/** Opens each port of a gateway and closes it again. A port that its own running gateway serves is a note. */
export async function checkPorts(
  program: Program,
  context: DoctorContext,
): Promise<readonly CheckedItem[]> {
  const readiness = servicePort("readiness", program.process.addresses.readiness, context);
  const isServing = readiness !== undefined && (await answersReady(readiness));
  const ports = wantedPorts(program, context);
  return Promise.all(
    [...ports, ...(readiness === undefined ? [] : [readiness])].map(
      async (wanted): Promise<CheckedItem> => {
        const { name, port, place } = wanted;
        const item = { group: "ports", name, ...(place !== undefined && { place }) } as const;
        const code = await openingProblem(wanted);
        if (code === undefined)
          return { ...item, status: "ok", detail: `${wanted.address} is free` };
        if (code === "EADDRINUSE" && isServing) {
          const detail = `in use; a gateway answers on its readiness port ${readiness.port}`;
          return { ...item, status: "note", detail };
        }
        return { ...item, status: "failed", ...problemOf(code, port) };
      },
    ),
  );
}

function wantedPorts(
  { binds, tcp, keysApi, process: { addresses } }: Program,
  context: DoctorContext,
): readonly WantedPort[] {
  const own = [...binds, ...tcp, ...(keysApi ? [keysApi] : [])].map(
    ({ port, address = EVERY_ADDRESS, origin }) => {
      return { name: `port ${port}`, port, address, place: context.placeOf(origin) };
    },
  );
  return [...own, servicePort("stats", addresses.stats, context)].filter(
    (port) => port !== undefined,
  );
}

/** Returns `undefined` if the page is off. The environment overrides addresses of the configuration. */
function servicePort(
  what: "stats" | "readiness",
  configured: string,
  { host }: DoctorContext,
): WantedPort | undefined {
  const text = host.variable(`${what.toUpperCase()}_ADDR`) ?? configured;
  if (text === "off") return undefined;
  const colon = text.lastIndexOf(":");
  const address = text.slice(0, colon).replace(/^\[|\]$/g, "") || EVERY_ADDRESS;
  const port = Number(text.slice(colon + 1));
  return { name: `port ${port} (${what})`, address, port };
}

function openingProblem({ port, address }: WantedPort): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => {
      resolve("code" in error ? String(error.code) : error.message);
    });
    server.listen({ port, host: address, exclusive: true }, () => {
      server.close(() => resolve(undefined));
    });
  });
}

function problemOf(code: string, port: number): Pick<CheckedItem, "detail" | "hint"> {
  switch (code) {
    case "EADDRINUSE":
      return {
        detail: "in use by another program",
        hint: `find it: \`ss -ltnp "sport = :${port}"\`, or choose another port`,
      };
    case "EACCES":
      return {
        detail: "not permitted: this user may not open ports below 1024",
        hint: "grant CAP_NET_BIND_SERVICE, or set the sysctl net.ipv4.ip_unprivileged_port_start",
      };
    case "EADDRNOTAVAIL":
      return { detail: "this machine does not have its address", hint: "see `ip address`" };
    default:
      return { detail: code };
  }
}

/** Whether a gateway answers on a readiness port, with any status. */
async function answersReady({ port, address }: WantedPort): Promise<boolean> {
  const host = address === EVERY_ADDRESS ? "127.0.0.1" : address;
  try {
    const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}/healthz/ready`;
    return [200, 503].includes((await fetch(url, { signal: AbortSignal.timeout(2000) })).status);
  } catch {
    return false;
  }
}
