import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { makeCertificate } from "./certificate.ts";
import { freePorts } from "./free-port.ts";
import { listen } from "./listen.ts";

/** How orders are refused. */
export interface OrderRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problem: object;
}

/** An ACME server that refuses every order. Pebble has no limits. */
export interface RefusingAcmeServer {
  readonly directory: string;
  /** Path of the authority of its own certificate. */
  readonly root: string;
  /** Ports for a gateway; nobody asks them. */
  readonly httpPort: number;
  readonly tlsPort: number;
  /** Number of orders so far. */
  readonly orders: number;
}

/** Starts it, with its certificate in a folder. */
export async function refusingAcmeServer(
  folder: string,
  { status, headers, problem }: OrderRefusal,
): Promise<RefusingAcmeServer> {
  makeCertificate(folder, "acme", { names: "IP:127.0.0.1" });
  const file = (extension: string) => path.join(folder, `acme.${extension}`);
  const [httpPort = 0, tlsPort = 0] = await freePorts(2);
  let orders = 0;
  let port = 0;
  const server = createServer({ cert: readFileSync(file("pem")), key: readFileSync(file("key")) });
  server.on("request", (request, response) => {
    const base = `https://127.0.0.1:${port}`;
    response.setHeader("replay-nonce", `nonce-${Math.random()}`);
    const respond = (code: number, body: object) => {
      response.writeHead(code, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    request.resume();
    switch (request.url) {
      case "/dir":
        return respond(200, {
          newNonce: `${base}/nonce`,
          newAccount: `${base}/account`,
          newOrder: `${base}/order`,
        });
      case "/account":
        response.setHeader("location", `${base}/account/1`);
        return respond(201, { status: "valid" });
      case "/order":
        orders += 1;
        return respond(status, problem);
      default:
        return respond(200, {});
    }
  });
  port = await listen(server);
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    root: file("pem"),
    httpPort,
    tlsPort,
    get orders() {
      return orders;
    },
  };
}
