import { startupNeeds } from "../../4-emit/startup-needs.ts";
import type { BindNode, ListenerNode, Program, RouteNode } from "../../ir/program.ts";
import type { TcpBindNode } from "../../ir/tcp.ts";
import {
  type Difference,
  type ProgramDiff,
  plainDifference,
  type SidePlace,
} from "./difference.ts";
import { backendText, policyDifferences, routeDifferences } from "./route-differences.ts";
import { type RoutePair, routePairs } from "./route-pairs.ts";
import { changedFields, settingsKey } from "./settings-text.ts";

/** What two programs do differently, the riskiest first. */
export function programDiff(before: Program, after: Program): ProgramDiff {
  const undecided: string[] = [];
  const ports = new Set([...before.binds, ...after.binds].map(({ port }) => port));
  const requests = [...ports].flatMap((port) => {
    const [old, now] = [before, after].map(({ binds }) => binds.find((each) => each.port === port));
    return bindDifferences(port, old, now, undecided);
  });
  const differences = [
    ...requests,
    ...tcpDifferences(before.tcp, after.tcp),
    ...needDifferences(before, after),
    ...processDifferences(before, after),
  ];
  return {
    differences: grouped(differences).toSorted((a, b) => RISK[a.direction] - RISK[b.direction]),
    undecided: [...new Set(undecided)],
    changedRoutes: changedRoutes(before, after),
  };
}

const RISK = { opens: 0, closes: 1, changes: 2 } as const;

function bindDifferences(
  port: number,
  before: BindNode | undefined,
  after: BindNode | undefined,
  undecided: string[],
): readonly Difference[] {
  const subject = `port ${port}`;
  if (before === undefined && after !== undefined) {
    const by: SidePlace = { side: "after", origin: after.origin, text: "a new port" };
    return after.listeners.flatMap((listener) => openListener(port, listener, by));
  }
  if (before !== undefined && after === undefined) {
    const by: SidePlace = { side: "before", origin: before.origin, text: "the port" };
    return [plainDifference("closes", subject, "served -> nothing listens", by)];
  }
  const hosts = new Set(
    [before, after].flatMap((bind) => bind?.listeners.map(({ hostname }) => hostname) ?? []),
  );
  const listeners = [...hosts].flatMap((hostname) => {
    const [old, now] = [before, after].map((bind) =>
      bind?.listeners.find((each) => each.hostname === hostname),
    );
    return listenerDifferences(port, hostname, old, now, undecided);
  });
  const settings = changedFields(
    { address: before?.address ?? "every address", tls: before?.tls },
    { address: after?.address ?? "every address", tls: after?.tls },
  ).map((text) =>
    plainDifference(
      directionOf(text),
      subject,
      text,
      after && { side: "after", origin: after.origin, text: subject },
    ),
  );
  return [...listeners, ...settings];
}

/** Where a port is open, and to whom it speaks. */
function directionOf(text: string): "opens" | "closes" | "changes" {
  if (/^address .* -> every address$/.test(text)) return "opens";
  if (/^address every address -> /.test(text)) return "closes";
  if (/^tls\.clientAuthorities .* -> none$/.test(text)) return "opens";
  if (/^tls\.minVersion TLSv1\.3 -> TLSv1\.2$/.test(text)) return "opens";
  return "changes";
}

/** What a listener serves that was not there. */
function openListener(port: number, listener: ListenerNode, by: SidePlace): readonly Difference[] {
  const scheme = listener.tls === undefined ? "http" : "https";
  return listener.routes.map((route) => ({
    ...plainDifference("opens", `port ${port} (new)`, `nothing listened -> ${servedBy(route)}`, by),
    when: [guardsText(listener, route)],
    example: `GET ${scheme}://${listener.hostname.replace("*", "anything")}:${port}/`,
  }));
}

function servedBy(route: RouteNode): string {
  return `served by ${backendText(route)}`;
}

/** `always: no authentication, no rules`, or the policies that stand before a route. */
function guardsText({ preRouting }: Pick<ListenerNode, "preRouting">, route: RouteNode): string {
  const kinds = [...(preRouting?.policies ?? []), ...route.policies].map(({ kind }) => kind);
  return kinds.length === 0 ? "always: no authentication, no rules" : `behind ${kinds.join(", ")}`;
}

function listenerDifferences(
  port: number,
  hostname: string,
  before: ListenerNode | undefined,
  after: ListenerNode | undefined,
  undecided: string[],
): readonly Difference[] {
  const where = hostname === "*" ? `:${port}` : `${hostname}:${port}`;
  const { pairs, undecided: open } = routePairs(before, after);
  undecided.push(...open);
  const routes = pairs.flatMap((pair) => pairDifferences(pair, where, before, after, undecided));
  const listener = `listener ${where}`;
  const preRouting = policyDifferences(
    listener,
    before?.preRouting?.policies ?? [],
    after?.preRouting?.policies ?? [],
  );
  const rest = changedFields(
    { paths: before?.pathHandling ?? after?.pathHandling, tls: before?.tls },
    { paths: after?.pathHandling ?? before?.pathHandling, tls: after?.tls },
  ).map((text) =>
    plainDifference(
      "changes",
      listener,
      text,
      after && { side: "after", origin: after.origin, text: listener },
    ),
  );
  return [...routes, ...preRouting, ...rest];
}

function pairDifferences(
  { before, after, requests }: RoutePair,
  where: string,
  oldListener: ListenerNode | undefined,
  newListener: ListenerNode | undefined,
  undecided: string[],
): readonly Difference[] {
  const paths = [...new Set(requests.map(({ path }) => path))];
  const at = `${where} ${pathsOf(after ?? before, after ? newListener : oldListener) ?? shortList(paths)}`;
  const [request] = requests;
  const example =
    request && `${request.method} //${request.host}${request.path}${conditionsOf(request)}`;
  if (before === undefined && after !== undefined) {
    const by: SidePlace = { side: "after", origin: after.origin, text: `route ${after.name}` };
    const guards = newListener === undefined ? [] : [guardsText(newListener, after)];
    const change = `404 -> ${servedBy(after)}`;
    return [
      {
        ...plainDifference("opens", `route ${after.name} (${at})`, change, by),
        when: guards,
        example,
      },
    ];
  }
  if (before !== undefined && after === undefined) {
    const by: SidePlace = { side: "before", origin: before.origin, text: `route ${before.name}` };
    const change = `${servedBy(before)} -> 404`;
    return [{ ...plainDifference("closes", `route ${before.name} (${at})`, change, by), example }];
  }
  if (before === undefined || after === undefined) return [];
  const subject = `route ${after.name} (${at})`;
  const chain = (listener: ListenerNode | undefined, route: RouteNode) => ({
    policies: [...(listener?.preRouting?.policies ?? []), ...route.policies],
    backends: route.backends,
  });
  const found = routeDifferences(subject, chain(oldListener, before), chain(newListener, after));
  undecided.push(...found.undecided.map((text) => `${subject} depends on ${text}`));
  const isOther = before.id !== after.id;
  const taken: readonly Difference[] = isOther
    ? [
        {
          ...plainDifference(
            "changes",
            subject,
            `served by route ${before.name} -> route ${after.name}`,
          ),
          when: [`path ${shortList(paths)}`],
          example,
        },
      ]
    : [];
  return [...found.differences, ...taken];
}

function conditionsOf({ headers, query }: RoutePair["requests"][number]): string {
  const all = [
    ...Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`),
    ...Object.entries(query).map(([name, value]) => `  ?${name}=${value}`),
  ];
  return all.join("");
}

/** The paths of a route, as its matches have them. */
function pathsOf(
  route: RouteNode | undefined,
  listener: ListenerNode | undefined,
): string | undefined {
  const entries = listener?.table.flatMap((each) => each.entries) ?? [];
  const paths = entries
    .filter((each) => each.route === route?.id && !each.match.isDerived)
    .map(({ match }) => match.path.value);
  return paths.length === 0 ? undefined : shortList([...new Set(paths)]);
}

function shortList(all: readonly string[]): string {
  const shown = all.slice(0, 3).join(", ");
  return all.length > 3 ? `${shown}, ...` : shown;
}

/** Ports that pass connections on. */
function tcpDifferences(
  before: readonly TcpBindNode[],
  after: readonly TcpBindNode[],
): readonly Difference[] {
  const ports = new Set([...before, ...after].map(({ port }) => port));
  return [...ports].flatMap((port): readonly Difference[] => {
    const [old, now] = [before, after].map((binds) => binds.find((each) => each.port === port));
    const subject = `port ${port} (connections)`;
    if (settingsKey(old) === settingsKey(now)) return [];
    const by = now && ({ side: "after", origin: now.origin, text: subject } as const);
    if (old === undefined)
      return [plainDifference("opens", subject, "nothing listened -> passes connections on", by)];
    if (now === undefined)
      return [plainDifference("closes", subject, "passes connections on -> nothing listens")];
    return changedFields(old, now).map((text) => plainDifference("changes", subject, text, by));
  });
}

/** Variables and files that have to be there when the gateway starts. */
function needDifferences(before: Program, after: Program): readonly Difference[] {
  const names = (program: Program) =>
    new Map(
      startupNeeds(program).map((need) => [
        need.kind === "variable" ? `variable ${need.name}` : `file ${need.file.file}`,
        need.origin,
      ]),
    );
  const [old, now] = [names(before), names(after)];
  const gained = [...now].filter(([name]) => !old.has(name));
  const lost = [...old].filter(([name]) => !now.has(name));
  return [
    ...gained.map(([name, origin]) =>
      plainDifference("changes", "to start", `needs the ${name}`, {
        side: "after",
        origin,
        text: name,
      }),
    ),
    ...lost.map(([name, origin]) =>
      plainDifference("changes", "to start", `no longer needs the ${name}`, {
        side: "before",
        origin,
        text: name,
      }),
    ),
  ];
}

/** What holds for the whole process: where it tells of itself, limits, logs and traces. */
function processDifferences(before: Program, after: Program): readonly Difference[] {
  const whole = ({ name: _, inputs: __, binds: ___, tcp: ____, ...rest }: Program) => rest;
  return changedFields(whole(before), whole(after)).map((text) =>
    plainDifference("changes", "the gateway", text),
  );
}

/** The same difference in many routes is one. */
function grouped(differences: readonly Difference[]): readonly Difference[] {
  const groups = Map.groupBy(differences, ({ direction, change, when, unless, by, was }) =>
    JSON.stringify([direction, change, when, unless, by?.text, was]),
  );
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    const subjects = [...new Set(same.map(({ subject }) => subject))];
    if (first === undefined || subjects.length < 3) return same;
    return [{ ...first, subject: `in ${subjects.length} places: ${shortList(subjects)}` }];
  });
}

/** How many routes are written as none was before; what they do may be the same. */
function changedRoutes(before: Program, after: Program): number {
  const texts = ({ binds }: Program) =>
    binds
      .flatMap(({ listeners }) => listeners.flatMap(({ routes }) => routes))
      .map(({ policies, backends }) => settingsKey([policies, backends]));
  const known = new Set(texts(before));
  return texts(after).filter((text) => !known.has(text)).length;
}
