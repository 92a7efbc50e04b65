import { createHash } from "node:crypto";
import { accessOf, policiesBefore } from "../../ir/access.ts";
import { backendText, mcpTargets, tcpBackendText } from "../../ir/backend-text.ts";
import { joinedPolicies } from "../../ir/joined-policies.ts";
import type { PolicyUse } from "../../ir/policies.ts";
import type { ListenerNode, Program } from "../../ir/program.ts";
import { servedRoutes } from "../../ir/routes.ts";
import { settingsKey } from "../../ir/settings-text.ts";
import { matchText } from "../../model/matches.ts";
import { type PolicyKind, policyOf } from "../../policies/index.ts";
import { startupNeeds } from "../startup-needs.ts";
import type { ChainSummary, GatewaySummary } from "./manifest-schema.ts";

/** Returns the summary of a program. */
export function gatewaySummary(program: Program): GatewaySummary {
  const { binds, tcp } = program;
  const matches = new Map(
    binds.flatMap(({ listeners }) =>
      listeners.map((each) => [each, matchesByRoute(each)] as const),
    ),
  );
  return {
    listeners: binds.flatMap(({ port, address, tls, listeners }) =>
      listeners.map((listener) => ({
        port,
        ...(address === undefined ? {} : { address }),
        protocol: tls === undefined ? "http" : "https",
        hostname: listener.hostname,
        ...chainSummary(policiesBefore(listener)),
      })),
    ),
    routes: servedRoutes(program).map(({ route, listeners }) => {
      const targets = route.backends.flatMap(mcpTargets);
      return {
        name: route.name,
        listeners: binds.flatMap(({ port, listeners: all }) =>
          all
            .filter((each) => listeners.includes(each))
            .map(({ hostname }) => `${hostname}:${port}`),
        ),
        matches: [...new Set(listeners.flatMap((each) => matches.get(each)?.get(route.id) ?? []))],
        ...chainSummary(route.policies),
        backends: backendText(route.backends),
        ...(targets.length === 0 ? {} : { targets }),
      };
    }),
    connections: tcp.flatMap(({ port, listeners }) =>
      listeners.map((listener) => ({
        port,
        hostname: listener.hostname,
        routes: listener.routes.map(({ id, name, policies, backends }) => ({
          name,
          hostnames: listener.table.flatMap((each) => (each.route === id ? each.hostname : [])),
          policies: joinedPolicies(policies).map(({ kind }) => kind),
          ...partsOfAll(policies),
          backends: tcpBackendText(backends),
        })),
        settings: digest(listener),
      })),
    ),
    needs: needsOf(program),
  };
}

/** Returns the matches of each route of a listener, in one pass over its table. */
function matchesByRoute({ table }: ListenerNode): ReadonlyMap<string, readonly string[]> {
  const matches = new Map<string, string[]>();
  for (const { hostname, entries } of table) {
    for (const { route, match } of entries) {
      if (match.isDerived) continue;
      const own = matches.get(route) ?? [];
      own.push(`${hostname === "*" ? "" : `host ${hostname}, `}${matchText(match)}`);
      matches.set(route, own);
    }
  }
  return matches;
}

function chainSummary(policies: readonly PolicyUse[]): ChainSummary {
  const checks = policies.flatMap(accessOf);
  return {
    policies: Object.fromEntries(
      joinedPolicies(policies).map((use) => [use.kind, settingsOf(use)]),
    ),
    ...partsOfAll(policies),
    identities: checks.flatMap((check) => {
      if (check.kind !== "identity") return [];
      const { variable, isRequired, proof } = check;
      return { variable, isRequired, proof };
    }),
    rules: checks.flatMap((check) => {
      if (check.kind !== "rules") return [];
      const { phase, rules, targets } = check;
      return rules.map(({ action, text }) => ({
        about: phase,
        action,
        expression: text,
        ...(targets === undefined ? {} : { targets }),
      }));
    }),
  };
}

/** Returns the parts of policies that consist of several; an empty object if none does. */
function partsOfAll(policies: readonly PolicyUse[]): Pick<ChainSummary, "parts"> {
  const found = joinedPolicies(policies).flatMap((use) => {
    const parts = partsOf(use).map(({ name, code, settings }) => [
      name,
      { code: digest(code), settings: digest(settings) },
    ]);
    return parts.length === 0 ? [] : [[use.kind, Object.fromEntries(parts)] as const];
  });
  return found.length === 0 ? {} : { parts: Object.fromEntries(found) };
}

function partsOf<Kind extends PolicyKind>({ kind, settings }: PolicyUse<Kind>) {
  return policyOf(kind).traits.parts?.(settings) ?? [];
}

/** Returns a digest of a policy's settings, or `rules` if its rules are all it has. */
function settingsOf(use: PolicyUse): string {
  const checks = accessOf(use);
  const isRules = checks.length > 0 && checks.every(({ kind }) => kind === "rules");
  return isRules ? "rules" : digest(use.settings);
}

function digest(settings: unknown): string {
  return createHash("sha256").update(settingsKey(settings)).digest("hex").slice(0, 12);
}

/** Returns the variables and files that a gateway needs at start, each once. */
function needsOf(program: Program): GatewaySummary["needs"] {
  const needs = startupNeeds(program);
  return {
    variables: needs.flatMap((each) => (each.kind === "variable" ? each.name : [])),
    files: needs.flatMap((each) => (each.kind === "file" ? each.file.file : [])),
  };
}
