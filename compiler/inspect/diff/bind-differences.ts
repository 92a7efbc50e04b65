import type { BindNode, ListenerNode } from "../../ir/program.ts";
import { changedFields } from "../../ir/settings-text.ts";
import { type Difference, plainDifference, type SidePlace } from "./difference.ts";
import { guardsText, pairDifferences, servedBy } from "./pair-differences.ts";
import { policyDifferences } from "./route-differences.ts";
import { routePairs } from "./route-pairs.ts";

/** What a port for requests does differently; what can't be decided is added to `undecided`. */
export function bindDifferences(
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
