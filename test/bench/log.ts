import { type Case, type Cost, compare } from "./compare.ts";
import type { Pace } from "./duel.ts";

/** Maximum CPU of a request that is logged, relative to one that is not. */
export const LOGGED = 1.08;

/** Measures a GET without an access log, the same once more as the noise, and with each format of the log. */
export function measureLog(host: string, pace: Pace): Promise<readonly Cost[]> {
  const routes = [{ name: "api", backends: [{ host }] }];
  const requests = [
    "GET /items/1?q=x HTTP/1.1\r\nHost: api.example.com\r\nUser-Agent: load\r\n\r\n",
  ];
  const none = { frontendPolicies: { accessLog: { filter: "false" } } };
  const cases: readonly Case[] = [
    { name: "no log", routes, requests, file: none },
    { name: "no log again", routes, requests, gateway: "no log" },
    { name: "text", routes, requests },
    { name: "json", routes, requests, file: { config: { logging: { format: "json" } } } },
  ];
  return compare(cases, `http://${host}`, pace);
}
