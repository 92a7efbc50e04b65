import type { Case } from "./compare.ts";
import { get } from "./policies.ts";

/**
 * Gateways that differ in the number of their routes: by path, by host name, and all of them asked in turns. The first
 * one has ten.
 */
export function routeCases(host: string): readonly Case[] {
  const all = Array.from({ length: 1_000 }, (_, at) => target(at));
  const names = [target(0, "host-777.example.com")];
  return [
    { name: "10 routes", routes: byPath(10, host), requests: [target(7)] },
    { name: "10 routes again", gateway: "10 routes", routes: [], requests: [target(7)] },
    { name: "1,000 routes", routes: byPath(1_000, host), requests: [target(777)] },
    { name: "1,000 routes in turns", gateway: "1,000 routes", routes: [], requests: all },
    { name: "10,000 routes", routes: byPath(10_000, host), requests: [target(7_777)] },
    { name: "1,000 host names", routes: byHost(1_000, host), requests: names },
  ];
}

function target(at: number, host = "api.example.com"): string {
  return get(`/team-${at % 97}/service-${at}/items/1?q=x`).replace("api.example.com", host);
}

function byPath(count: number, host: string): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `service-${at}`,
    matches: [{ path: { pathPrefix: `/team-${at % 97}/service-${at}` } }],
    backends: [{ host }],
  }));
}

function byHost(count: number, host: string): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `service-${at}`,
    hostnames: [`host-${at}.example.com`],
    backends: [{ host }],
  }));
}
