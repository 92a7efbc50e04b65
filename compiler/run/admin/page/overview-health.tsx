import type { GatewayData } from "../api/admin-api.ts";
import { age, amount, clock, dayAndTime, span, visible } from "./format.ts";
import { Card, Code, Empty, Pill, Quoted, Text } from "./parts.tsx";

/** State of servers that routes choose from. */
export function Health({ gateway: { servers } }: { gateway: GatewayData }) {
  const sick = servers.filter(({ isGood }) => !isGood).length;
  return (
    <Card
      title="Backends"
      class="flush"
      note={
        servers.length === 0
          ? undefined
          : sick === 0
            ? "all good"
            : `${sick} of ${servers.length} without requests`
      }
    >
      {servers.length === 0 ? (
        <Empty icon="check" title="No server has reported trouble">
          Servers appear here when a route chooses between several of them.
        </Empty>
      ) : (
        <ul class="lines">
          {servers.map(({ route, server, isGood, text }) => (
            <li key={`${route} ${server}`}>
              <div class="grow">
                <Code>{server}</Code>
                <span class="soft sub">
                  route <Text>{route}</Text>
                </span>
              </div>
              <Pill tone={isGood ? "good" : "bad"}>
                <Text>{text}</Text>
              </Pill>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const DAY = 86_400_000;

/** Certificates of listeners, those that expire first at the top. */
export function Certificates({ gateway: { certificates, now } }: { gateway: GatewayData }) {
  return (
    <Card title="Certificates" class="flush" note={amount(certificates.length, "certificate")}>
      {certificates.length === 0 ? (
        <Empty icon="access" title="No certificates">
          No listener of this gateway ends TLS.
        </Empty>
      ) : (
        <ul class="lines">
          {certificates.map(({ hostname, file, expires }) => {
            const left = expires === null ? 0 : expires - now;
            const tone = left < 7 * DAY ? "bad" : left < 30 * DAY ? "warn" : "good";
            const isOrdered = file === "acme";
            return (
              <li key={`${hostname} ${file}`}>
                <div class="grow">
                  <strong>
                    <Text>{hostname === "" || hostname === "*" ? "any name" : hostname}</Text>
                  </strong>
                  <span class="soft sub">
                    {isOrdered ? "ordered from the ACME server" : <Text>{file}</Text>}
                    {expires !== null && `, until ${dayAndTime(expires)}`}
                  </span>
                </div>
                <Pill tone={tone}>
                  {expires === null
                    ? "not issued yet"
                    : left <= 0
                      ? "expired"
                      : `${span(left)} left`}
                </Pill>
              </li>
            );
          })}
        </ul>
      )}
    </Card>
  );
}

/** Result of the last reload. */
export function LastReload({ gateway }: { gateway: GatewayData }) {
  const { change, now, generation, servedSince } = gateway;
  const { problem, findings, at } = change;
  const isFirst = generation === 1 && problem === null && at - servedSince < 1000;
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const found = findings.filter((each) => each.severity === severity).length;
    return found === 0 ? [] : amount(found, severity);
  });
  return (
    <Card title="Last reload" class="flush">
      <ul class="lines">
        <li>
          <div class="grow">
            <strong>
              {problem !== null
                ? "Not applied"
                : isFirst
                  ? "Started"
                  : at > servedSince
                    ? "Read again, nothing to change"
                    : `Applied as version ${generation}`}
            </strong>
            <span class="soft sub">
              {clock(at)}, {age(at, now)} ago
            </span>
          </div>
          <Pill tone={problem === null ? (counts.length === 0 ? "good" : "warn") : "bad"}>
            {counts.length === 0 ? "no findings" : counts.join(", ")}
          </Pill>
        </li>
      </ul>
    </Card>
  );
}

const TONES = { error: "bad", warning: "warn", note: "plain" } as const;

/** Mistakes and notes of the last change. */
export function Mistakes({ gateway: { change, now } }: { gateway: GatewayData }) {
  const { findings, problem, at } = change;
  if (findings.length === 0 && problem === null) return null;
  return (
    <Card
      title={problem === null ? "Notes on the configuration" : "Mistakes in the last edit"}
      note={`${clock(at)}, ${age(at, now)} ago`}
      class="flush"
    >
      <ul class="lines findings">
        {findings.length === 0 && problem !== null && (
          <li>
            <Text>{problem}</Text>
          </li>
        )}
        {findings.map(({ severity, code, message, hint, place }) => (
          <li key={`${code} ${place} ${message}`}>
            <Pill tone={TONES[severity]}>{severity}</Pill>
            <div class="grow">
              <span>{visible(message)}</span>
              {hint !== null && (
                <span class="sub soft">
                  <Quoted>{hint}</Quoted>
                </span>
              )}
              <span class="sub soft">
                <Code>{place}</Code> · {code}
              </span>
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
